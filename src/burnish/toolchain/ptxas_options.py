"""Every option of ptxas 12.4 to 13.5, as its help texts list them."""

from dataclasses import dataclass
from enum import Enum

__all__ = ["PTXAS", "Option", "Role", "Takes"]


class Role(Enum):
    """What an option decides."""

    CODE = "code"
    MESSAGE = "message"  # messages, warnings, line info: never the code
    OUTPUT = "output"
    ARCH = "arch"
    ENTRY = "entry"
    CONTROLS = "controls"
    OPTIONS_FILE = "options-file"
    QUESTION = "question"  # prints an answer and compiles nothing


class Takes(Enum):
    """What follows an option's name."""

    NOTHING = "nothing"
    VALUE = "value"
    NUMBER = "number"  # or a word such as archmax
    ATTACHED = "attached"  # a number that may follow the short name at once: -O3
    LIST = "list"  # comma-separated; repeats add up


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Attributes:
        name: Long name, without dashes.
        short: Short name, without its dash.
        takes: What follows it.
        role: What it decides.
        default: The value that says nothing new; None where there is none.
    """

    name: str
    short: str
    takes: Takes = Takes.NOTHING
    role: Role = Role.CODE
    default: str | None = None


# --position-independent-code has no default here: "false" changes whole programs, which are
# position-independent unless it is given. --allow-expensive-optimizations depends on the level.
PTXAS = (
    Option("Ofast-compile", "Ofc", Takes.VALUE, default="0"),
    Option("allow-expensive-optimizations", "allow-expensive-optimizations", Takes.VALUE),
    Option("apply-controls", "apply-controls", Takes.VALUE, Role.CONTROLS),
    Option("compile-as-tools-patch", "astoolspatch"),
    Option("compile-only", "c"),
    Option("compiler-annotations", "annotate"),
    Option("def-load-cache", "dlcm", Takes.VALUE),
    Option("def-store-cache", "dscm", Takes.VALUE),
    Option("device-debug", "g"),
    Option("device-function-maxrregcount", "func-maxrregcount", Takes.NUMBER),
    Option("device-stack-protector", "device-stack-protector", Takes.VALUE, default="false"),
    Option("disable-optimizer-constants", "disable-optimizer-consts"),
    Option("disable-warnings", "w", role=Role.MESSAGE),
    Option("dont-merge-basicblocks", "no-bb-merge"),
    Option("enable-func-clone-sc", "enable-func-clone-sc", Takes.VALUE, default="false"),
    Option("entry", "e", Takes.LIST, Role.ENTRY),
    Option("extensible-whole-program", "ewp"),
    Option("fmad", "fmad", Takes.VALUE, default="true"),
    Option("force-load-cache", "flcm", Takes.VALUE),
    Option("force-store-cache", "fscm", Takes.VALUE),
    Option("g-tensor-memory-access-check", "g-tmem-access-check"),
    Option("generate-line-info", "lineinfo", role=Role.MESSAGE),
    Option("gno-fabric-access-check", "gno-fabric-access-check"),
    Option("gno-tensor-memory-access-check", "gno-tmem-access-check"),
    Option("gpu-name", "arch", Takes.VALUE, Role.ARCH),
    Option("help", "h", role=Role.QUESTION),
    Option("input-as-string", "ias", Takes.VALUE),
    Option("jobserver", "jobserver", role=Role.MESSAGE),
    Option("legacy-bar-warp-wide-behavior", "legacy-bar-warp-wide-behavior"),
    Option("list-arch", "arch-ls", role=Role.QUESTION),
    Option("list-version", "version-ls", role=Role.QUESTION),
    Option("machine", "m", Takes.ATTACHED, default="64"),
    Option("make-errors-visible-at-exit", "make-errors-visible-at-exit"),
    Option("maxntid", "maxntid", Takes.LIST),
    Option("maxrregcount", "maxrregcount", Takes.NUMBER),
    Option("minnctapersm", "minnctapersm", Takes.NUMBER),
    Option("opt-level", "O", Takes.ATTACHED, default="3"),
    Option("optimize-float-atomics", "opt-fp-atomics"),
    Option("options-file", "optf", Takes.LIST, Role.OPTIONS_FILE),
    Option("output-file", "o", Takes.VALUE, Role.OUTPUT),
    Option("override-directive-values", "override-directive-values"),
    Option("position-independent-code", "pic", Takes.VALUE),
    Option("preserve-relocs", "preserve-relocs"),
    Option("register-usage-level", "regUsageLevel", Takes.NUMBER, default="5"),
    Option("return-at-end", "ret-end"),
    Option("sanitize", "sanitize", Takes.VALUE),
    Option("sp-bounds-check", "sp-bounds-check"),
    Option("split-compile", "split-compile", Takes.NUMBER),
    Option(
        "suppress-async-bulk-multicast-advisory-warning",
        "suppress-async-bulk-multicast-advisory-warning",
        role=Role.MESSAGE,
    ),
    Option("suppress-debug-info", "suppress-debug-info", role=Role.MESSAGE),
    Option("suppress-double-demote-warning", "suppress-double-demote-warning", role=Role.MESSAGE),
    Option(
        "suppress-position-independent-code-warning",
        "suppress-position-independent-code-warning",
        role=Role.MESSAGE,
    ),
    Option(
        "suppress-sparse-mma-advisory-info",
        "suppress-sparse-mma-advisory-info",
        role=Role.MESSAGE,
    ),
    Option("suppress-stack-size-warning", "suppress-stack-size-warning", role=Role.MESSAGE),
    Option("verbose", "v", role=Role.MESSAGE),
    Option("verbose2", "v2", role=Role.MESSAGE),
    Option("version", "V", role=Role.QUESTION),
    Option("warn-on-double-precision-use", "warn-double-usage", role=Role.MESSAGE),
    Option("warn-on-local-memory-usage", "warn-lmem-usage", role=Role.MESSAGE),
    Option("warn-on-spills", "warn-spills", role=Role.MESSAGE),
    Option("warning-as-error", "Werror", role=Role.MESSAGE),
)
