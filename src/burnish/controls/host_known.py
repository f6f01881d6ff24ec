"""What is known about single options of gcc: what is usual, what rounds, what is no control.

Names are those of controls: without dashes and without the leading ``f``.
"""

from collections.abc import Mapping

from burnish.model.control import Risk

__all__ = [
    "BLOCKED",
    "BLOCKED_PARAMS",
    "NEEDED_BY",
    "RISKS",
    "USUAL",
]

# In the order in which they are tried, with a meaning where gcc has none or a long one.
_PROCESSOR = "The processor that code is made for; what is built then needs one like it."
USUAL: Mapping[str, str] = {
    "march": _PROCESSOR,
    "mcpu": _PROCESSOR,
    "math-errno": "Whether functions such as sqrt set errno, which keeps loops from vectorising.",
    "unroll-loops": "Unrolls loops whose number of rounds is known when they are entered.",
    "opt-level": "How hard gcc optimises: -O0 to -O3, -Os and -Oz for size, -Ofast inexactly.",
    "vect-cost-model": "How sure the vectoriser wants to be that vectors pay.",
    "mprefer-vector-width": "Width in bits of the vectors that loops are turned into.",
    "trapping-math": "Whether floating-point traps must be kept, which keeps branches in loops.",
    "prefetch-loop-arrays": "Prefetches memory in loops over large arrays.",
    "param.max-unroll-times": "Most copies that unrolling makes of a loop.",
    "tree-loop-vectorize": "Turns loops into loops over vectors.",
    "tree-slp-vectorize": "Turns neighbouring scalar operations into vector operations.",
    "semantic-interposition": "Whether a program may replace the kernel's own functions.",
    "mtune": "The processor that instructions are chosen and ordered for.",
    "peel-loops": "Moves the first rounds of short loops in front of them.",
    "loop-unroll-and-jam": "Unrolls an outer loop and joins the copies of the inner one.",
    "loop-interchange": "Changes the order of nested loops.",
    "tree-loop-distribution": "Splits a loop into several.",
    "tree-loop-distribute-patterns": "Turns loops that copy or clear into library calls.",
    "unswitch-loops": "Moves conditions that do not change out of loops.",
    "split-loops": "Splits a loop where a condition changes once.",
    "version-loops-for-strides": "Makes a copy of a loop for the case that strides are one.",
    "predictive-commoning": "Reuses what earlier rounds of a loop have computed or loaded.",
    "ivopts": "Chooses the counters and pointers that loops step.",
    "tree-loop-im": "Moves what does not change out of loops.",
    "tree-pre": "Removes what is computed twice on some ways.",
    "gcse": "Removes what is computed twice, across blocks, on machine operations.",
    "schedule-insns": "Orders instructions before registers are chosen.",
    "schedule-insns2": "Orders instructions after registers are chosen.",
    "sched-pressure": "Keeps the number of live registers in mind when ordering early.",
    "selective-scheduling2": "Orders instructions late by selective scheduling.",
    "modulo-sched": "Overlaps the rounds of inner loops.",
    "rename-registers": "Uses registers that are left over to break false dependences.",
    "web": "Gives independent uses of a register names of their own.",
    "tracer": "Copies the tails of frequent ways, for later passes.",
    "ira-region": "Over which regions registers are chosen.",
    "ira-algorithm": "How registers are chosen.",
    "ira-loop-pressure": "Keeps register pressure in mind when moving things out of loops.",
    "live-range-shrinkage": "Shortens live ranges before registers are chosen.",
    "if-conversion": "Turns branches into conditional operations, before registers are chosen.",
    "if-conversion2": "Turns branches into conditional operations, after registers are chosen.",
    "split-paths": "Splits ways that lead back to loop headers.",
    "ipa-pta": "Asks through all functions what pointers may point to.",
    "inline-functions": "Inlines functions that are not marked so.",
    "loop-nest-optimize": "Orders and tiles loop nests by the polyhedral model.",
    "align-loops": "Alignment of loops in bytes.",
    "align-functions": "Alignment of functions in bytes.",
    "omit-frame-pointer": "Uses the frame pointer's register for values.",
    "plt": "Calls library functions through stubs.",
    "param.max-completely-peeled-insns": "Most instructions of a loop that is unrolled away.",
    "param.max-completely-peel-times": "Most rounds of a loop that is unrolled away.",
    "param.max-unrolled-insns": "Most instructions of an unrolled loop.",
    "param.unroll-jam-max-unroll": "Most copies that unroll-and-jam makes of an outer loop.",
    "param.vect-partial-vector-usage": "Whether loops end in part vectors instead of scalars.",
    "param.vect-max-peeling-for-alignment": "Most rounds peeled to align vector loads.",
    "param.avg-loop-niter": "Rounds that a loop of unknown length is taken to have.",
    "param.prefetch-latency": "How far ahead memory is prefetched.",
    "param.simultaneous-prefetches": "Most prefetches in flight.",
    "param.l1-cache-size": "Size of the first cache in KiB, as passes are told it.",
    "param.l2-cache-size": "Size of the second cache in KiB, as passes are told it.",
    "param.max-inline-insns-auto": "Largest function that is inlined unasked.",
    "fp-contract": "Whether a product and a sum become one operation that rounds once.",
    "fast-math": "Sets all that makes floating point fast and inexact.",
    "unsafe-math-optimizations": "Lets floating point be rewritten as if it were exact.",
    "associative-math": "Lets sums be added up in another order.",
    "reciprocal-math": "Lets a division become a multiplication.",
    "finite-math-only": "Takes it that nothing is infinite or NaN.",
    "signed-zeros": "Whether the sign of zero is kept.",
}

RISKS: Mapping[str, Risk] = {
    **dict.fromkeys(
        (
            *("fast-math", "unsafe-math-optimizations", "associative-math", "reciprocal-math"),
            *("finite-math-only", "signed-zeros", "cx-limited-range", "cx-fortran-rules"),
            *("single-precision-constant", "excess-precision", "float-store", "mrecip"),
            *("mfpmath", "mieee-fp", "mlow-precision-recip-sqrt", "mlow-precision-sqrt"),
            *("mlow-precision-div", "fp-contract"),
        ),
        Risk.ROUNDING,
    ),
    # They take something about the program to be so, and no run of it can show that it is.
    **dict.fromkeys(("allow-store-data-races", "finite-loops"), Risk.UNPROVEN),
}

_ABI = "changes how other objects must be compiled"
_HARDENING = "guards against attacks: not for a tuner to decide"
_THREADS = "starts threads"
_PROFILE = "needs the profile of a run"
_MEANING = "changes what the program means"
_NO_CODE = "changes no code of a C kernel"
_ALIAS = "is decided by other controls"

BLOCKED: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("pack-struct", "short-enums", "short-wchar", "reg-struct-return", "common"),
            *("strict-volatile-bitfields", "inline-atomics", "patchable-function-entry"),
            *("live-patching", "section-anchors"),
        ),
        _ABI,
    ),
    **dict.fromkeys(
        (
            *("stack-protector", "stack-protector-all", "stack-protector-explicit"),
            *("stack-protector-strong", "stack-check", "stack-clash-protection", "harden-compares"),
            *("harden-conditional-branches", "trivial-auto-var-init", "zero-call-used-regs"),
            *("hardened", "harden-control-flow-redundancy"),
        ),
        _HARDENING,
    ),
    **dict.fromkeys(("tree-parallelize-loops", "loop-parallelize-all"), _THREADS),
    **dict.fromkeys(
        (
            *("branch-probabilities", "profile-partial-training", "profile-reorder-functions"),
            *("vpt", "auto-profile", "profile-use", "profile-values"),
        ),
        _PROFILE,
    ),
    **dict.fromkeys(
        ("trapv", "exceptions", "handle-exceptions", "non-call-exceptions", "instrument-functions"),
        _MEANING,
    ),
    **dict.fromkeys(
        (
            *("opt-info", "save-optimization-record", "var-tracking", "var-tracking-assignments"),
            *("var-tracking-assignments-toggle", "var-tracking-uninit", "unwind-tables"),
            *("asynchronous-unwind-tables", "keep-gc-roots-live", "delete-dead-exceptions"),
            *("gstatement-frontiers", "rtti"),
        ),
        _NO_CODE,
    ),
    **dict.fromkeys(("tree-vectorize", "unroll-all-loops", "dump-final-insns"), _ALIAS),
}

# Prefixes of parameters that belong to other tools, languages or messages.
BLOCKED_PARAMS = (
    *("analyzer-", "asan-", "hwasan-", "tsan-", "use-after-scope", "ssp-", "stack-clash-"),
    *("lto-", "ggc-", "cxx-", "lazy-", "openacc-", "parloops-", "tm-", "comdat-", "uninit-"),
    *("constructive-interference", "destructive-interference", "gimple-fe-", "profile-func"),
    *("hash-table-", "graphite-allow", "min-nondebug", "max-debug", "max-vartrack", "ranger-debug"),
    *("threader-debug", "use-canonical", "min-pagesize", "dwarf", "integer-share", "max-tracked"),
    *("openmp-", "file-cache-"),
)

# Parameters that matter only where a switch is on.
NEEDED_BY: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("param.prefetch-latency", "param.simultaneous-prefetches"),
            *("param.min-insn-to-prefetch-ratio", "param.prefetch-min-insn-to-mem-ratio"),
            *("param.prefetch-minimum-stride", "param.prefetch-dynamic-strides"),
        ),
        "prefetch-loop-arrays",
    ),
    **dict.fromkeys(("param.sms-max-ii-factor", "param.sms-dfa-history"), "modulo-sched"),
}
