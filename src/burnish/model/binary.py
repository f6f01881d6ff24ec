"""Machine code, by its digest and what can be read off it without running it."""

from dataclasses import dataclass

__all__ = ["Binary", "Facts"]


@dataclass(frozen=True, slots=True)
class Facts:
    """Static facts of one entry.

    Attributes:
        registers: Registers a thread; 0 where the machine has no such count (the host).
        spill_bytes: Bytes a thread stores to and loads from spill slots, both added.
        stack_bytes: Stack frame a thread.
        instructions: Machine instructions, padding after the last one left out.
        code_bytes: Size of the entry's code section.
        shared_bytes: Static shared memory a block.
    """

    registers: int
    spill_bytes: int
    stack_bytes: int
    instructions: int
    code_bytes: int
    shared_bytes: int


@dataclass(frozen=True, slots=True)
class Binary:
    """Machine code of one entry, with the file that holds it.

    Attributes:
        digest: Binary digest of the entry, hex; not of the file.
        facts: What can be read off it.
        image: The cubin or shared library.
    """

    digest: str
    facts: Facts
    image: bytes
