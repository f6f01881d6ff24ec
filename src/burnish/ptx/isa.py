"""What an instruction of PTX does, as data: results, memory, ordering.

The tables follow the PTX ISA manual, version 9.0. They only list what is understood: whatever has
no row is a barrier to everything.
"""

from dataclasses import dataclass, replace
from functools import cache

__all__ = ["CONSTANT_REGISTERS", "SPACES", "Form", "form"]


@dataclass(frozen=True, slots=True)
class Form:
    """What all instructions of one spelling do.

    Attributes:
        opcode: The first word: ``ld``.
        modifiers: The others: ``("global", "v4", "b32")``.
        results: How many of the first operands are written, where they are no addresses.
        accumulates: Whether the results are read as well.
        kind: ``load``, ``store``, ``copy`` or ``other`` where an address is an operand, else
            empty.
        space: The state space of that address; ``generic`` where none is named.
        loads: State spaces that it reads.
        stores: State spaces that it writes.
        fences: Whether it keeps its order to every access to memory.
        convergent: Whether threads execute it together.
        pinned: Whether it is not understood, or may not move for another reason.
        ends: Whether it ends a basic block.
        in_flight: The group of operations whose waits its registers need, or empty.
        awaits: The group of operations that it orders, or empty.
    """

    opcode: str
    modifiers: tuple[str, ...] = ()
    results: int = 1
    accumulates: bool = False
    kind: str = ""
    space: str = ""
    loads: frozenset[str] = frozenset()
    stores: frozenset[str] = frozenset()
    fences: bool = False
    convergent: bool = False
    pinned: bool = False
    ends: bool = False
    in_flight: str = ""
    awaits: str = ""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPACES = {
    "global": "global",
    "shared": "shared",
    "shared::cta": "shared",
    "shared::cluster": "shared",
    "local": "local",
    "const": "const",
    "param": "param",
    "param::entry": "param",
    "param::func": "param",
}
"""State spaces by the word that names them."""

CONSTANT_REGISTERS = _words(
    """%tid %ntid %laneid %ctaid %nctaid %gridid %clusterid %nclusterid %cluster_ctaid
    %cluster_nctaid %cluster_ctarank %cluster_nctarank %is_explicit_cluster %lanemask_eq
    %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt %total_smem_size %aggr_smem_size
    %dynamic_smem_size %reserved_smem_offset_begin %reserved_smem_offset_end
    %reserved_smem_offset_cap %current_graph_exec"""
)
"""Special registers that never change while a thread runs."""

_GLOBAL, _SHARED = frozenset({"global"}), frozenset({"shared"})

_VALUES = _words(
    """abs add addc and bfe bfi bfind bmsk brev clz cnot copysign cos createpolicy cvt cvta
    div dp2a dp4a ex2 fma fns getctarank isspacep istypep lg2 lop3 mad mad24 madc mapa max min mov
    mul mul24 neg not or popc prmt rcp rem rsqrt sad selp set setp shf shl shr sin slct sqrt sub
    subc suq szext tanh testp txq vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad
    vmax vmax2 vmax4 vmin vmin2 vmin4 vset vset2 vset4 vshl vshr vsub vsub2 vsub4 xor"""
)

_PINNED = _words("""alloca brkpt call nanosleep pmevent setmaxnreg stackrestore stacksave trap""")

_FENCES = _words(
    """applypriority barrier bar cp.async.bulk cp.async.commit_group cp.async.mbarrier
    cp.async.wait_all cp.async.wait_group cp.reduce.async.bulk discard fence griddepcontrol
    membar red st.async st.bulk sured sust tensormap"""
)

_ROWS: dict[str, Form] = {
    **{name: Form(name) for name in _VALUES},
    **{name: Form(name, results=0, fences=True, kind="other") for name in _FENCES},
    **{name: Form(name, results=0, pinned=True) for name in _PINNED},
    "atom": Form("atom", kind="other", fences=True),
    "bra": Form("bra", results=0, pinned=True, ends=True),
    "brx": Form("brx", results=0, pinned=True, ends=True),
    "exit": Form("exit", results=0, pinned=True, ends=True),
    "ret": Form("ret", results=0, pinned=True, ends=True),
    "activemask": Form("activemask", convergent=True),
    "elect": Form("elect", convergent=True),
    "match": Form("match", convergent=True),
    "mma": Form("mma", convergent=True),
    "movmatrix": Form("movmatrix", convergent=True),
    "redux": Form("redux", convergent=True),
    "shfl": Form("shfl", convergent=True),
    "vote": Form("vote", convergent=True),
    "wmma.mma": Form("wmma", convergent=True),
    "clusterlaunchcontrol": Form("clusterlaunchcontrol", fences=True),
    "cp.async": Form("cp", results=0, kind="copy", loads=_GLOBAL, stores=_SHARED),
    "ld": Form("ld", kind="load"),
    "ldu": Form("ldu", kind="load"),
    "ldmatrix": Form("ldmatrix", kind="load", convergent=True),
    "wmma.load": Form("wmma", kind="load", convergent=True),
    "st": Form("st", results=0, kind="store"),
    "stmatrix": Form("stmatrix", results=0, kind="store", convergent=True),
    "wmma.store": Form("wmma", results=0, kind="store", convergent=True),
    "mbarrier": Form("mbarrier", kind="other", fences=True),
    "multimem": Form("multimem", kind="other", fences=True),
    "prefetch": Form("prefetch", results=0, kind="other"),
    "prefetchu": Form("prefetchu", results=0, kind="other"),
    "suld": Form("suld", loads=_GLOBAL),
    "tex": Form("tex", loads=_GLOBAL),
    "tld4": Form("tld4", loads=_GLOBAL),
    "tcgen05": Form("tcgen05", results=0, fences=True),
    "tcgen05.ld": Form("tcgen05", fences=True, in_flight="tcgen05"),
    "tcgen05.ld.red": Form("tcgen05", results=2, fences=True, in_flight="tcgen05"),
    "tcgen05.st": Form("tcgen05", results=0, fences=True, in_flight="tcgen05"),
    "tcgen05.wait": Form("tcgen05", results=0, fences=True, awaits="tcgen05"),
    "wgmma.mma_async": Form("wgmma", accumulates=True, loads=_SHARED, in_flight="wgmma"),
    "wgmma.fence": Form("wgmma", results=0, fences=True, awaits="wgmma"),
    "wgmma.commit_group": Form("wgmma", results=0, fences=True, awaits="wgmma"),
    "wgmma.wait_group": Form("wgmma", results=0, fences=True, awaits="wgmma"),
}
"""By the longest dotted beginning that has a row."""

_ORDERED = frozenset({"acq_rel", "acquire", "mmio", "relaxed", "release", "sc", "volatile"})
_TOGETHER = frozenset({"aligned", "sync"})
_BARRIERS = frozenset({"bar", "barrier"})
_LOAD_AND_STORE = _words(
    """weak ca cg cs lu cv wb wt nc cta cluster gpu sys v2 v4 v8 unified
    L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate
    L2::evict_normal L2::evict_first L2::evict_last L2::cache_hint L2::64B L2::128B L2::256B
    b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f32 f64"""
)
_WEAK_MODIFIERS = _LOAD_AND_STORE | _ORDERED | SPACES.keys()
_ANY_MODIFIERS = frozenset({"cp", "ldmatrix", "stmatrix", "wmma"})


@cache
def form(head: str) -> Form:
    """What instructions do that are spelled so.

    Args:
        head: Opcode and modifiers: ``ld.global.v4.b32``.
    """
    words = head.split(".")
    row = _row(words)
    if row is None:
        return Form(words[0], tuple(words[1:]), results=0, pinned=True)
    modifiers = frozenset(words[1:])
    convergent = row.convergent or not _TOGETHER.isdisjoint(modifiers) or row.opcode in _BARRIERS
    found = replace(row, opcode=words[0], modifiers=tuple(words[1:]), convergent=convergent)
    if found.opcode in _BARRIERS and "red" in modifiers:
        return replace(found, opcode=words[0], results=1)
    return _placed(found, modifiers) if found.kind else found


def _row(words: list[str]) -> Form | None:
    """The row of the longest beginning."""
    for length in range(len(words), 0, -1):
        row = _ROWS.get(".".join(words[:length]))
        if row is not None:
            return row
    return None


def _placed(found: Form, modifiers: frozenset[str]) -> Form:
    """Fill in what an access to memory touches."""
    spaces = [SPACES[word] for word in found.modifiers if word in SPACES]
    space = spaces[0] if spaces else "generic"
    if found.kind == "copy":
        return replace(found, space="global")
    if found.kind not in {"load", "store"}:
        return replace(found, space=space)
    if found.opcode not in _ANY_MODIFIERS and not modifiers <= _WEAK_MODIFIERS:
        return replace(found, space=space, pinned=True)
    touched = frozenset({space})
    return replace(
        found,
        space=space,
        fences=found.fences or not modifiers.isdisjoint(_ORDERED),
        loads=touched if found.kind == "load" else frozenset(),
        stores=touched if found.kind == "store" else frozenset(),
    )
