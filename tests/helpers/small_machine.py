"""A thread of a small PTX machine, and random code for it: an oracle of what an order computes.

Whatever keeps the order of memory lets other threads have their turn: they change all of memory
in a way that depends on how often they had it. Operations of a warp leave a trace, and the clock
counts statements, so every order that matters shows. Asynchronous copies and matrix operations
happen when they are issued or when they are waited for; code must give one answer each way.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

__all__ = ["Machine", "Statement", "may_change_places", "random_code"]

SPACES = ("global", "shared", "local")
WORDS = range(0, 32, 4)
BUFFER = 1000
Place = tuple[str, int]


@dataclass
class Machine:
    """Registers, memory and what other threads saw.

    Attributes:
        seed: What the registers and memory hold at the start.
        late: Asynchronous operations happen when they are waited for.
    """

    seed: int
    late: bool
    registers: dict[str, int] = field(default_factory=dict)
    memory: dict[Place, int] = field(default_factory=dict)
    pointers: dict[str, Place] = field(default_factory=dict)
    pending: list[Callable[[], None]] = field(default_factory=list)
    trace: list[int] = field(default_factory=list)
    steps: int = 0
    turns: int = 0

    def __post_init__(self) -> None:
        rng = Random(self.seed)
        self.registers = {f"%r{at}": rng.randrange(99) for at in range(9)}
        self.registers |= {f"%a{at}": rng.choice((0, 4, 8)) for at in range(3)}
        self.registers |= {f"%p{at}": rng.randrange(2) for at in range(3)}
        self.registers |= {f"%d{at}": rng.randrange(99) for at in range(2)} | {"carry": 0}
        self.memory = {(space, at): rng.randrange(99) for space in SPACES for at in WORDS}
        self.memory |= {("shared", BUFFER + at): 0 for at in range(0, 256, 4)}
        self.pointers = {f"%g{at}": (rng.choice(SPACES), rng.choice((0, 4))) for at in range(2)}

    def others(self) -> None:
        """Other threads have their turn."""
        self.turns += 1
        self.memory = {place: hash((value, self.turns)) for place, value in self.memory.items()}

    def gather(self) -> None:
        """The whole warp meets, and other threads have their turn."""
        self.trace.append(0)
        self.others()

    def later(self, action: Callable[[], None]) -> None:
        """An asynchronous operation is issued."""
        if self.late:
            self.pending.append(action)
        else:
            action()

    def wait(self) -> None:
        """All asynchronous operations are done, and other threads have their turn."""
        for action in self.pending:
            action()
        self.pending.clear()
        self.others()

    def run(self, code: list["Statement"]) -> tuple[object, ...]:
        """What the code leaves behind."""
        for statement in code:
            statement.act(self)
            self.steps += 1
        registers = {name: value for name, value in self.registers.items() if name != "carry"}
        return registers, self.memory, self.trace, self.turns


@dataclass(frozen=True, eq=False)
class Statement:
    """One statement: its text, what it does, and what a reader of the ISA says of it.

    Attributes:
        text: PTX.
        act: Does it.
        reads: Registers read.
        writes: Registers written or perhaps written.
        loads: State spaces that it may read.
        stores: State spaces that it may write.
        ordered: It keeps the order of all memory.
        warp: It keeps its order with others of a warp.
        pinned: Nothing passes it.
    """

    text: str
    act: Callable[[Machine], None]
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    loads: frozenset[str] = frozenset()
    stores: frozenset[str] = frozenset()
    ordered: bool = False
    warp: bool = False
    pinned: bool = False


def may_change_places(one: Statement, two: Statement) -> bool:
    """Whether two neighbours may, found the long way."""
    if one.pinned or two.pinned or (one.warp and two.warp):
        return False
    if one.writes & (two.reads | two.writes) or two.writes & one.reads:
        return False
    if one.stores & (two.loads | two.stores) or two.stores & one.loads:
        return False
    touch_one = one.ordered or one.loads or one.stores
    touch_two = two.ordered or two.loads or two.stores
    return not ((one.ordered and touch_two) or (two.ordered and touch_one))


def _names(*parts: str) -> frozenset[str]:
    return frozenset(part for part in parts if part.startswith("%"))


def _set(name: str, value: Callable[[Machine], int]) -> Callable[[Machine], None]:
    def act(machine: Machine) -> None:
        machine.registers[name] = value(machine)

    return act


def _sum(rng: Random) -> Statement:
    to, one, two = (f"%r{rng.randrange(6)}" for _ in range(3))
    return Statement(
        f"add.s32 {to}, {one}, {two};",
        _set(to, lambda machine: machine.registers[one] + machine.registers[two]),
        _names(one, two),
        _names(to),
    )


def _guarded(rng: Random) -> Statement:
    to, value, guard = f"%r{rng.randrange(6)}", rng.randrange(99), f"%p{rng.randrange(3)}"
    sense = rng.randrange(2)

    def act(machine: Machine) -> None:
        if machine.registers[guard] == sense:
            machine.registers[to] = value

    text = f"@{'' if sense else '!'}{guard} mov.b32 {to}, {value};"
    return Statement(text, act, _names(guard, to), _names(to))


def _compare(rng: Random) -> Statement:
    one, two = f"%r{rng.randrange(6)}", f"%r{rng.randrange(6)}"
    to, other = rng.sample(["%p0", "%p1", "%p2"], 2)

    def act(machine: Machine) -> None:
        less = machine.registers[one] < machine.registers[two]
        machine.registers |= {to: int(less), other: int(not less)}

    return Statement(
        f"setp.lt.s32 {to}|{other}, {one}, {two};", act, _names(one, two), _names(to, other)
    )


def _step(rng: Random) -> Statement:
    base = f"%a{rng.randrange(3)}"
    change = rng.choice((4, -4))

    def act(machine: Machine) -> None:
        machine.registers[base] = (machine.registers[base] + change) % 12

    return Statement(f"add.s32 {base}, {base}, {change};", act, _names(base), _names(base))


def _carry(rng: Random) -> Statement:
    to, one = f"%r{rng.randrange(6)}", f"%r{rng.randrange(6)}"
    carry = frozenset({"carry"})
    if rng.randrange(2):

        def out(machine: Machine) -> None:
            machine.registers["carry"] = machine.registers[one] % 2
            machine.registers[to] = machine.registers[one] + 1

        return Statement(f"add.cc.u32 {to}, {one}, 1;", out, _names(one), _names(to) | carry)
    return Statement(
        f"addc.u32 {to}, {one}, 0;",
        _set(to, lambda machine: machine.registers[one] + machine.registers["carry"]),
        _names(one) | carry,
        _names(to),
    )


def _access(rng: Random) -> Statement:
    space = rng.choice((*SPACES, "generic"))
    base = f"%g{rng.randrange(2)}" if space == "generic" else f"%a{rng.randrange(3)}"
    offset = rng.choice((0, 4, 8))
    register = f"%r{rng.randrange(6)}"
    touched = frozenset(SPACES if space == "generic" else (space,))

    def place(machine: Machine) -> Place:
        if space == "generic":
            window, start = machine.pointers[base]
            return window, start + offset
        return space, machine.registers[base] + offset

    def load(machine: Machine) -> None:
        machine.registers[register] = machine.memory[place(machine)]

    def store(machine: Machine) -> None:
        machine.memory[place(machine)] = machine.registers[register]

    suffix = "" if space == "generic" else f".{space}"
    address = f"[{base}+{offset}]"
    if rng.randrange(2):
        text = f"ld{suffix}.b32 {register}, {address};"
        return Statement(text, load, _names(base), _names(register), loads=touched)
    text = f"st{suffix}.b32 {address}, {register};"
    return Statement(text, store, _names(base, register), stores=touched)


def _pair(rng: Random) -> Statement:
    base, offset = f"%a{rng.randrange(3)}", rng.choice((0, 4))
    one, two = rng.sample([f"%r{at}" for at in range(6)], 2)

    def act(machine: Machine) -> None:
        start = machine.registers[base] + offset
        machine.registers[one] = machine.memory["shared", start]
        machine.registers[two] = machine.memory["shared", start + 4]

    return Statement(
        f"ld.shared.v2.b32 {{{one}, {two}}}, [{base}+{offset}];",
        act,
        _names(base),
        _names(one, two),
        loads=frozenset({"shared"}),
    )


def _ordered(rng: Random) -> Statement:
    to, base = f"%r{rng.randrange(6)}", f"%a{rng.randrange(3)}"

    def act(machine: Machine) -> None:
        place = ("global", machine.registers[base])
        machine.registers[to] = machine.memory[place]
        machine.memory[place] += 1
        machine.others()

    def volatile(machine: Machine) -> None:
        machine.registers[to] = machine.memory["global", machine.registers[base]]
        machine.others()

    kinds = [
        Statement(f"atom.global.add.u32 {to}, [{base}], 1;", act, _names(base), _names(to)),
        Statement(f"ld.volatile.global.b32 {to}, [{base}];", volatile, _names(base), _names(to)),
        Statement("bar.sync 0;", Machine.gather, warp=True),
        Statement("fence.acq_rel.gpu;", Machine.others),
    ]
    kind = rng.choice(kinds)
    return Statement(kind.text, kind.act, kind.reads, kind.writes, ordered=True, warp=kind.warp)


def _warp(rng: Random) -> Statement:
    to, one = f"%r{rng.randrange(6)}", f"%r{rng.randrange(6)}"

    def act(machine: Machine) -> None:
        machine.trace.append(machine.registers[one])
        machine.registers[to] = hash((machine.registers[one], len(machine.trace)))

    text = f"shfl.sync.bfly.b32 {to}, {one}, 1, 31, -1;"
    return Statement(text, act, _names(one), _names(to), warp=True)


def _clock(rng: Random) -> Statement:
    to = f"%r{rng.randrange(6)}"
    act = _set(to, lambda machine: machine.steps)
    return Statement(f"mov.u32 {to}, %clock;", act, frozenset(), _names(to), pinned=True)


def _group(rng: Random) -> Statement:
    to, one = f"%r{rng.randrange(6)}", f"%r{rng.randrange(6)}"
    return Statement(
        f"{{ .reg .b32 t; add.s32 t, {one}, 1; mov.b32 {to}, t; }}",
        _set(to, lambda machine: machine.registers[one] + 1),
        _names(one),
        _names(to),
    )


def _copies(rng: Random) -> list[Statement]:
    """A load of a word, a copy to it, its group and wait, and another load."""
    base, to = f"%a{rng.randrange(3)}", f"%r{rng.randrange(6)}"
    word = 4 * rng.randrange(64)

    def copy(machine: Machine) -> None:
        source = ("global", machine.registers[base])

        def done() -> None:
            machine.memory["shared", BUFFER + word] = machine.memory[source]

        machine.later(done)

    def read(machine: Machine) -> None:
        machine.registers[to] = machine.memory["shared", BUFFER + word]

    old, load = f"%r{rng.randrange(6)}", f"[buffer+{word}];"

    def read_old(machine: Machine) -> None:
        machine.registers[old] = machine.memory["shared", BUFFER + word]

    one, shared = frozenset({"global"}), frozenset({"shared"})
    text = f"cp.async.ca.shared.global [buffer+{word}], [{base}], 4;"
    return [
        Statement(f"ld.shared.b32 {old}, {load}", read_old, writes=_names(old), loads=shared),
        Statement(text, copy, _names(base), loads=one, stores=shared),
        Statement("cp.async.commit_group;", Machine.others, ordered=True),
        Statement("cp.async.wait_group 0;", Machine.wait, ordered=True),
        Statement(f"ld.shared.b32 {to}, {load}", read, writes=_names(to), loads=shared),
    ]


def _matrices(rng: Random) -> list[Statement]:
    """Accumulators set, fenced, added to from shared memory, waited for, and read."""
    to, one = f"%r{rng.randrange(6)}", f"%r{rng.randrange(6)}"
    flying = _names("%d0", "%d1", "%r6", "%r7")

    def multiply(machine: Machine) -> None:
        def done() -> None:
            factor = machine.registers["%r6"] + machine.memory["shared", 0]
            machine.registers["%d0"] = hash((machine.registers["%d0"], factor))

        machine.later(done)

    mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1}, %r6, %r7, 1, 1, 1, 0, 0;"
    fence, commit, wait = (
        Statement(
            f"wgmma.{name}.sync.aligned{number};", act, flying, flying, ordered=True, warp=True
        )
        for name, number, act in (
            ("fence", "", Machine.gather),
            ("commit_group", "", Machine.gather),
            ("wait_group", " 0", Machine.wait),
        )
    )
    return [
        Statement(
            f"mov.b32 %d0, {one};",
            _set("%d0", lambda it: it.registers[one]),
            _names(one),
            _names("%d0"),
        ),
        fence,
        Statement(
            mma, multiply, flying, _names("%d0", "%d1"), loads=frozenset({"shared"}), warp=True
        ),
        commit,
        wait,
        Statement(
            f"mov.b32 {to}, %d0;",
            _set(to, lambda it: it.registers["%d0"]),
            _names("%d0"),
            _names(to),
        ),
    ]


_SINGLE = [_sum, _guarded, _compare, _step, _carry, _access, _pair, _warp, _group]
_RARE = [_ordered, _clock]


def random_code(rng: Random, count: int) -> list[Statement]:
    """Random straight-line code, with a copy and a matrix operation spread over some of it."""
    code = [rng.choice(_RARE if rng.random() < 0.1 else _SINGLE)(rng) for _ in range(count)]
    code = [rng.choice((_access(rng), item)) for item in code]
    for chain in (_copies(rng), _matrices(rng)):
        if rng.randrange(2):
            places = sorted(rng.randrange(len(code) + 1) for _ in chain)
            for place, item in zip(reversed(places), reversed(chain), strict=True):
                code.insert(place, item)
    return code
