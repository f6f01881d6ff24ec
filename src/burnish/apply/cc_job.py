"""One build by gcc: which sources are built with tuned options, and what came of it."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from burnish.apply.cc_line import Source, read_build
from burnish.apply.cc_proof import LIMITS, Proof, Prover
from burnish.apply.deliver import print_messages
from burnish.apply.fit import Complaint
from burnish.apply.front import say
from burnish.apply.ledger import Ledger
from burnish.apply.offer import offered
from burnish.apply.request import OwnWords
from burnish.errors import BurnishError, ToolchainError
from burnish.model.toolchain import Tool
from burnish.settings import Settings
from burnish.toolchain.folder import own_folder
from burnish.toolchain.process import End, Outcome, replace, run

__all__ = ["Job"]

_MOST_NAMES = 4
_SIGNALLED = 128


class Job:
    """One build."""

    def __init__(self, own: OwnWords, settings: Settings, real: Tool) -> None:
        self._own = own
        self._settings = settings
        self._real = real
        self._build = read_build(own.rest)
        self._ledger = Ledger(strict=own.strict)

    def run(self) -> int:
        """Build, and say how it went; what is not built here is the real gcc's, in our place."""
        proofs = self._tried()
        for warning in self._ledger.warnings:
            say(warning)
        if self._ledger.must_fail:
            return self._refuse()
        with ExitStack() as stack:
            built = self._built(proofs, self._own_folder(stack)) if proofs else {}
            code = self._ended(built)
        if code is None:
            rest = self._build.rest(built) if built else self._own.rest
            replace([str(self._real.path), *rest])
        return code

    def _own_folder(self, stack: ExitStack) -> Path:
        temporary = self._settings.temporary
        try:
            return stack.enter_context(own_folder(temporary))
        except OSError as error:
            message = f"{temporary}: no folder can be made in it: {error.strerror} (TMPDIR)"
            raise ToolchainError(message) from None

    def _tried(self) -> list[Proof]:
        try:
            return self._proofs()
        except BurnishError as error:
            self._ledger.fail(str(error))
        except Exception as error:  # noqa: BLE001 - a fault of ours must not break a build
            self._ledger.fail(f"an error of Burnish itself ({error!r}), please report it")
        return []

    def _ended(self, built: dict[Source, str]) -> int | None:
        """The exit code; None where the real gcc has something left to do."""
        if self._ledger.must_fail:
            return self._refuse()
        if self._ledger.failure:
            say(f"{self._ledger.failure}; building {'that ' * bool(built)}plain")
        if built and self._build.links:
            return self._linked(built)
        return 0 if built and not self._build.leaves_inputs(built) else None

    def _proofs(self) -> list[Proof]:
        """The sources that may be built with tuned options."""
        build, own, ledger = self._build, self._own, self._ledger
        about = offered(own.given, self._settings.shelf, ledger)
        if about is None:
            return []
        if "-" in build.line.inputs and own.given:
            ledger.fail("standard input cannot be looked up; name a C file")
        prover = Prover(build, self._real, self._settings, own.allow)
        found = [prover.prove(source, about) for source in build.sources]
        proofs = [one for one in found if isinstance(one, Proof)]
        for complaint in [one for one in found if isinstance(one, Complaint)]:
            ledger.fail(str(complaint))
        self._note_misses(prover, {path for proof in proofs for path in proof.paths})
        if build.sources and own.given and not any(found):
            self._note_no_match()
        if proofs and build.links and build.beside:
            ledger.fail(f"{build.beside} needs a compile of its own; compile with -c, link later")
            return []
        for path in [path for proof in proofs for path in proof.paths]:
            ledger.applied(path)
        return proofs

    def _note_misses(self, prover: Prover, applied: set[Path]) -> None:
        """Demand files of which nothing is applied, where there is something to apply them to."""
        sources = self._build.sources
        missed = {Path(file.name) for file in self._own.given} - applied
        if self._own.must_apply and missed and sources and all(map(prover.reads, sources)):
            for path in missed:
                self._ledger.demand(path)

    def _note_no_match(self) -> None:
        names = [source.name for source in self._build.sources]
        listed = ", ".join(names[:_MOST_NAMES]) + ", …" * (len(names) > _MOST_NAMES)
        files = ", ".join(file.name for file in self._own.given)
        what = f"{files}: no block is for {listed}"
        if self._own.must_apply and self._ledger.must_fail:
            self._ledger.fail(what)
        else:
            self._ledger.warnings.append(f"{what}; building plain")

    def _built(self, proofs: Sequence[Proof], folder: Path) -> dict[Source, str]:
        """Build what is proven; source to object file, which is empty where none is needed."""
        built: dict[Source, str] = {}
        for number, proof in enumerate(proofs):
            output = str(folder / f"{number}.o") if self._build.links else ""
            argv = self._build.alone(proof.source, proof.options, output)
            outcome = run([str(proof.tool.path), *argv], limits=LIMITS)
            if outcome.ok:
                print_messages(outcome.stdout, outcome.stderr)
                built[proof.source] = output
            else:
                self._ledger.fail(f"{proof.source.name}: {proof.tool.name} fails: {_why(outcome)}")
        return built

    def _linked(self, built: dict[Source, str]) -> int:
        """Build the rest and link; the objects are temporary, so we have to wait for it."""
        outcome = run([str(self._real.path), *self._build.rest(built)], limits=LIMITS)
        print_messages(outcome.stdout, outcome.stderr)
        return outcome.code + _SIGNALLED * (outcome.end is End.SIGNALLED)

    def _refuse(self) -> int:
        say(f"{self._ledger.failure}; not built, as strict controls were asked for")
        return 1


def _why(outcome: Outcome) -> str:
    said = outcome.stderr.decode(errors="replace").splitlines()
    errors = [line for line in said if "error" in line]
    return next(iter([*errors, *said]), f"{outcome.end.value}, code {outcome.code}")
