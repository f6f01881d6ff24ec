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
    %reserved_smem_offset_cap %reserved_smem_offset_0 %reserved_smem_offset_1 %current_graph_exec"""
)
"""Special registers that never change while a thread runs."""

_GLOBAL, _SHARED = frozenset({"global"}), frozenset({"shared"})

_VALUES = _words(
    """abs add addc and bfe bfi bfind bmsk brev clz cnot copysign cos createpolicy cvt cvta div
    dp2a dp4a ex2 fma fns getctarank isspacep istypep lg2 lop3 mad mad24 madc mapa max min mov
    mul mul24 neg not or popc prmt rcp rem rsqrt sad selp set setp shf shl shr sin slct sqrt sub
    subc suq szext tanh testp txq vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4
    vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vset vset2 vset4 vshl vshr vsub vsub2 vsub4 xor"""
)

_PINNED = _words(
    """alloca bra brkpt brx.idx call exit nanosleep pmevent ret setmaxnreg stackrestore stacksave
    trap"""
)

_FENCES = _words(
    """applypriority bar.arrive bar.cta.arrive bar.cta.sync bar.sync bar.warp barrier.arrive
    barrier.cluster barrier.cta.arrive barrier.cta.sync barrier.sync cp.async.bulk
    cp.async.commit_group cp.async.mbarrier cp.async.wait_all cp.async.wait_group
    cp.reduce.async.bulk discard fence griddepcontrol membar multimem.red multimem.st red
    st.async st.bulk sured sust tcgen05.alloc tcgen05.commit tcgen05.cp tcgen05.dealloc
    tcgen05.fence tcgen05.mma tcgen05.relinquish_alloc_permit tcgen05.shift
    tensormap.cp_fenceproxy tensormap.replace"""
)

_FENCING_VALUES = _words(
    """atom bar.cta.red bar.red barrier.cta.red barrier.red clusterlaunchcontrol.query_cancel
    clusterlaunchcontrol.try_cancel mbarrier.arrive mbarrier.arrive_drop mbarrier.check_layout
    mbarrier.complete_tx mbarrier.expect_tx mbarrier.init mbarrier.inval mbarrier.pending_count
    mbarrier.test_wait mbarrier.try_wait multimem.ld_reduce suld"""
)

_TOGETHER_VALUES = _words("activemask elect match mma movmatrix redux shfl vote wmma.mma")

_WGMMA = Form("wgmma", results=0, fences=True, awaits="wgmma")
_TENSOR = Form("tcgen05", fences=True, in_flight="tcgen05")

_ROWS: dict[str, Form] = {
    **{name: Form(name) for name in _VALUES},
    **{name: Form(name, results=0, pinned=True) for name in _PINNED},
    **{name: Form(name, results=0, kind="other", fences=True) for name in _FENCES},
    **{name: Form(name, kind="other", fences=True) for name in _FENCING_VALUES},
    **{name: Form(name, convergent=True) for name in _TOGETHER_VALUES},
    **{f"cp.async.{how}": Form("cp", results=0, kind="copy") for how in ("ca", "cg")},
    **{name: Form(name, kind="load") for name in ("ld", "ldu", "ldmatrix", "wmma.load")},
    **{name: Form(name, results=0, kind="store") for name in ("st", "stmatrix", "wmma.store")},
    **{name: Form(name, results=0, kind="other") for name in ("prefetch", "prefetchu")},
    **{name: Form(name, loads=_GLOBAL) for name in ("tex", "tld4")},
    "tcgen05.ld": _TENSOR,
    "tcgen05.ld.red": replace(_TENSOR, results=2),
    "tcgen05.ld.red.spcompress": replace(_TENSOR, results=3),
    "tcgen05.st": replace(_TENSOR, results=0),
    "tcgen05.wait": Form("tcgen05", results=0, fences=True, awaits="tcgen05"),
    "wgmma.mma_async": Form("wgmma", accumulates=True, loads=_SHARED, in_flight="wgmma"),
    **{f"wgmma.{name}": _WGMMA for name in ("commit_group", "fence", "wait_group")},
}
"""By the longest dotted beginning that has a row."""

_ORDERED = frozenset({"acq_rel", "acquire", "mmio", "relaxed", "release", "sc", "volatile"})
_TOGETHER = frozenset({"aligned", "sync"})
_BARRIERS = frozenset({"bar", "barrier"})
_OF_LOADS_AND_STORES = (
    _words(
        """weak ca cg cs lu cv wb wt nc cta cluster gpu sys v2 v4 v8 unified
        L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate
        L2::evict_normal L2::evict_first L2::evict_last L2::cache_hint L2::64B L2::128B L2::256B
        b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f32 f64"""
    )
    | _ORDERED
    | SPACES.keys()
)


@cache
def form(head: str) -> Form:
    """What instructions do that are spelled so.

    Args:
        head: Opcode and modifiers: ``ld.global.v4.b32``.
    """
    opcode, *words = head.split(".")
    row = _row(head)
    modifiers = frozenset(words)
    found = replace(
        row,
        opcode=opcode,
        modifiers=tuple(words),
        convergent=row.convergent or opcode in _BARRIERS or not _TOGETHER.isdisjoint(modifiers),
    )
    return _placed(found) if found.kind else found


def _row(head: str) -> Form:
    """The row of the longest beginning; without one, nothing is known."""
    while head not in _ROWS and (cut := max(head.rfind("."), head.rfind("::"))) > 0:
        head = head[:cut]
    return _ROWS.get(head, Form(head, results=0, pinned=True))


def _placed(found: Form) -> Form:
    """Fill in what an access to memory touches."""
    if found.kind == "copy":
        # It keeps its order to every store.
        return replace(found, space="global", loads=_GLOBAL | {"local"}, stores=_SHARED)
    spaces = [SPACES[word] for word in found.modifiers if word in SPACES]
    found = replace(found, space=spaces[0] if spaces else "generic")
    if found.kind in {"load", "store"} and found.opcode in {"ld", "ldu", "st"}:
        unknown = not _OF_LOADS_AND_STORES.issuperset(found.modifiers)
        ordered = not _ORDERED.isdisjoint(found.modifiers)
        found = replace(found, pinned=unknown, fences=found.fences or ordered)
    touched = frozenset({found.space})
    if found.kind == "store":
        return replace(found, stores=touched)
    return found if found.kind == "other" and found.fences else replace(found, loads=touched)
