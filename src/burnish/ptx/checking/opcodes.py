"""The checkers' own table of opcodes, from the PTX ISA's instruction chapters.

What is not in it is a barrier to everything.
"""

__all__ = ["CONVERGENT", "HINTS", "ORDERED", "PLAIN", "STRONG", "WRITE_FIRST"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The destination is the first operand, and nothing but registers is touched.
PLAIN = _words(
    "add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi bmsk "
    "szext dp4a dp2a addc subc madc testp copysign fma rcp sqrt rsqrt sin cos lg2 ex2 tanh set "
    "setp selp slct and or xor not cnot lop3 shf shl shr mov prmt cvt cvta isspacep mapa "
    "getctarank createpolicy txq suq istypep vadd vsub vabsdiff vmin vmax vshl vshr vmad vset "
    "vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4 "
    "shfl vote match redux activemask elect mma movmatrix"
)
CONVERGENT = _words("shfl vote match redux activemask elect mma movmatrix")
HINTS = _words("prefetch prefetchu applypriority")
# They keep the order of all memory; the destination is the first operand unless it is an address.
# `setmaxnreg` is left out: what is computed with how many registers is the author's choice, so
# that it is a barrier like any opcode that is not here.
ORDERED = _words(
    "atom mbarrier clusterlaunchcontrol multimem suld sured sust tensormap red fence membar bar "
    "barrier griddepcontrol tcgen05 call cp st wgmma ld"
)
WRITE_FIRST = _words("atom mbarrier clusterlaunchcontrol suld ld")
STRONG = _words("volatile relaxed acquire release mmio async bulk")
