"""Ctrl-C and its like: the first ends a verb, and those that follow do not disturb how it ends."""

import signal
import time

__all__ = ["ignore_endings", "take_endings"]

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Workers and compilers are ended and temporary files removed in less; what takes longer may be
# interrupted again.
_ENDING_S = 10.0


class _Ending:
    """A handler that interrupts, once in a while: people press Ctrl-C twice."""

    def __init__(self) -> None:
        self._until_s = 0.0

    def __call__(self, _number: int, _frame: object) -> None:
        if time.monotonic() >= self._until_s:
            self._until_s = time.monotonic() + _ENDING_S
            raise KeyboardInterrupt


def take_endings() -> None:
    """End as after Ctrl-C, too, when a batch system or a closed terminal ends the verb."""
    ending = _Ending()
    for number in _NUMBERS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores one of them
            signal.signal(number, ending)


def ignore_endings() -> None:
    """Let nothing come between the end of a verb and that of the process."""
    for number in _NUMBERS:
        signal.signal(number, signal.SIG_IGN)
