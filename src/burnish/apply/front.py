"""What the front doors of builds share: who stands in for a compiler ends as it would."""

import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from burnish.errors import BurnishError

__all__ = ["guarded", "say"]

_INTERRUPTED = 130
_SIGNALLED = 128
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def guarded(run: Callable[[], int]) -> int:
    """Run a build; its exit code, whatever ends it. Temporary files go even when it is killed."""
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores one of them
            signal.signal(number, _end)
    try:
        return run()
    except BurnishError as error:
        say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 - a user never meets a traceback
        say(f"an error of Burnish itself ({error!r:.500}), please report it")
        return 1


def say(line: str) -> None:
    """One line of ours among the compiler's messages."""
    sys.stderr.write(f"burnish: {line}\n")
    sys.stderr.flush()


def _end(number: int, _frame: object) -> NoReturn:
    """End the build; whoever presses Ctrl-C twice does not end the clearing up."""
    for one in _ENDING:
        signal.signal(one, signal.SIG_IGN)
    raise SystemExit(_SIGNALLED + number)
