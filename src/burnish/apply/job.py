"""One build by ptxas: what was asked for, what is tuned for it, what came of it."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from burnish.apply.build import Built, build
from burnish.apply.choose import Plan, Unit, choose
from burnish.apply.deliver import deliver
from burnish.apply.fit import PlainBuild
from burnish.apply.ledger import Ledger
from burnish.apply.offer import offered
from burnish.apply.request import Request
from burnish.errors import BurnishError, KernelError, ToolchainError
from burnish.model.toolchain import Tool
from burnish.ptx.module import parse
from burnish.settings import Settings
from burnish.toolchain.discover import find_one
from burnish.toolchain.options import command_line

__all__ = ["Job"]

_STANDARD_OUTPUT = "elf.o"  # ptxas's own
_KNOWS_CONTROLS = (13, 3)
_MOST_NAMES = 4


class Job:
    """A build. `build` tries to apply what is tuned; the rest says what came of it.

    Attributes:
        plain_argv: Arguments of the real ptxas for the plain build.
        output: The file to write.
        ledger: What is to be said of it.
    """

    def __init__(self, request: Request, settings: Settings, real: Tool) -> None:
        self.plain_argv = request.argv
        self.output = request.normal.output or _STANDARD_OUTPUT
        self.ledger = Ledger(strict=request.strict)
        self._request = request
        self._settings = settings
        self._real = real

    def build(self) -> Built | None:
        """Build and deliver with tuned blocks; None where the plain build is the one to do."""
        request = self._request
        if self._has_opaque():
            return None
        about = offered(request.given, self._settings.shelf, self.ledger)
        if about is None:
            return None
        units = self._units()
        if not units:
            return None
        if request.must_apply and any(unit.entries for unit in units):
            for file in request.given:
                self.ledger.demand(Path(file.name))
        plain = PlainBuild(
            self._real.name, request.normal.options, request.normal.arch, request.allow
        )
        plan = choose(units, plain, about)
        for complaint in plan.complaints:
            self.ledger.fail(str(complaint))
        if request.given and not plan.picks and not plan.complaints:
            self._warn_of_no_match(units)
        return self._built(units, plan) if plan.picks and not self._must_not_start(plan) else None

    def _has_opaque(self) -> bool:
        """Whether NVIDIA's own controls file is given; a ptxas that does not know it gets none."""
        controls = self._request.normal.controls
        if not controls:
            return False
        if tuple(int(part) for part in self._real.version.split(".")[:2]) < _KNOWS_CONTROLS:
            self.plain_argv = tuple(command_line(replace(self._request.normal, controls=())))
            self.ledger.fail(
                f"{controls[0]}: is NVIDIA's own, which {self._real.name} does not know"
            )
        elif self._request.given:
            self.ledger.fail(
                f"{self._request.given[0].name}: cannot go together with {controls[0]}"
            )
        return True

    def _units(self) -> tuple[Unit, ...]:
        """The PTX files; none where only the real ptxas knows what to do or say."""
        normal = self._request.normal
        if normal.asks or not normal.arch.startswith("sm_"):
            return ()
        if "-" in normal.inputs:
            if self._request.given:
                self.ledger.fail("standard input cannot be looked up; name a PTX file")
            return ()
        units = []
        for name in normal.inputs:
            try:
                text = Path(name).read_bytes().decode(errors="surrogateescape")
                module = parse(text, needs_entry=False)
            except OSError:
                return ()
            except KernelError as error:
                self._unread(f"{name}: {error}")
                return ()
            names = [entry.name for entry in module.entries]
            wanted = [entry for entry in names if not normal.entries or entry in normal.entries]
            units.append(Unit(name, module, tuple(wanted)))
        return tuple(units)

    def _unread(self, why: str) -> None:
        """What the real ptxas may read, and we cannot, has no part in what is on a shelf."""
        if self._request.given:
            self.ledger.fail(why)
        else:
            self.ledger.warnings.append(f"{why}; building plain")

    def _warn_of_no_match(self, units: Iterable[Unit]) -> None:
        names = [entry for unit in units for entry in unit.entries]
        listed = ", ".join(names[:_MOST_NAMES]) + ", …" * (len(names) > _MOST_NAMES)
        files = ", ".join(file.name for file in self._request.given)
        arch = self._request.normal.arch
        what = f"no block is for {listed or 'a file without entries'} on {arch}"
        if self._request.must_apply and listed:
            self.ledger.fail(f"{files}: {what}")
        else:
            self.ledger.warnings.append(f"{files}: {what}; building plain")

    def _must_not_start(self, plan: Plan) -> bool:
        return self.ledger.is_in_vain(pick.found.path for pick in plan.picks)

    def _built(self, units: tuple[Unit, ...], plan: Plan) -> Built | None:
        normal = self._request.normal
        try:
            built = build(self._tool(plan), normal, units, plan.picks, self._settings.temporary)
        except (BurnishError, OSError) as error:
            self.ledger.fail(str(error))
            return None
        try:
            deliver(built.image, self.output)
        except OSError as error:
            self.ledger.fail(f"{self.output}: cannot be written: {error.strerror}")
            return None
        for pick in plan.picks:
            self.ledger.applied(pick.found.path)
        return built

    def _tool(self, plan: Plan) -> Tool:
        name = plan.picks[0].found.tuned.code.compiler
        if name == self._real.name:
            return self._real
        kind, _, version = name.partition(" ")
        found = find_one(self._settings, kind, version) if kind == "ptxas" else None
        if found is None:
            source = plan.picks[0].found.path
            get = f"burnish toolchain add {kind}=={version}"
            raise ToolchainError(f"{source}: {name} is not installed; get it with: {get}")
        return found
