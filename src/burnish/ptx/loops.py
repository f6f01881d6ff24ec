"""Loops of a control flow graph: natural loops, by dominators.

Dominators after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
"""

from collections.abc import Sequence

__all__ = ["depths", "loops"]


def depths(successors: Sequence[Sequence[int]]) -> list[int]:
    """How many loops each node is in; loops with one header count once.

    Args:
        successors: The nodes that may follow each; node 0 is the entry.
    """
    found = [0] * len(successors)
    for body in loops(successors).values():
        for node in body:
            found[node] += 1
    return found


def loops(successors: Sequence[Sequence[int]]) -> dict[int, set[int]]:
    """The nodes of each loop, by its header.

    Args:
        successors: The nodes that may follow each; node 0 is the entry.
    """
    order = _postorder(successors)
    predecessors: list[list[int]] = [[] for _ in successors]
    for node in order:
        for after in successors[node]:
            predecessors[after].append(node)
    above = _dominators(order, predecessors)
    bodies: dict[int, set[int]] = {}
    for node in order:
        for header in successors[node]:
            if _dominates(header, node, above):
                _add_loop(bodies.setdefault(header, {header}), node, predecessors)
    return bodies


def _postorder(successors: Sequence[Sequence[int]]) -> list[int]:
    """Nodes that can be reached, each after those that it leads to first."""
    found: list[int] = []
    seen = {0}
    stack = [(0, iter(successors[0]))] if successors else []
    while stack:
        node, waiting = stack[-1]
        after = next((after for after in waiting if after not in seen), None)
        if after is None:
            found.append(node)
            stack.pop()
        else:
            seen.add(after)
            stack.append((after, iter(successors[after])))
    return found


def _dominators(order: list[int], predecessors: list[list[int]]) -> dict[int, int]:
    """The nearest other node on every way to a node."""
    rank = {node: number for number, node in enumerate(order)}
    above = {0: 0}
    changed = True
    while changed:
        changed = False
        for node in reversed(order):
            known = [before for before in predecessors[node] if before in above]
            if node == 0 or not known:
                continue
            nearest = known[0]
            for before in known[1:]:
                nearest = _meet(nearest, before, above, rank)
            changed |= above.get(node) != nearest
            above[node] = nearest
    return above


def _meet(one: int, other: int, above: dict[int, int], rank: dict[int, int]) -> int:
    while one != other:
        while rank[one] < rank[other]:
            one = above[one]
        while rank[other] < rank[one]:
            other = above[other]
    return one


def _dominates(header: int, node: int, above: dict[int, int]) -> bool:
    while node not in {header, 0}:
        node = above[node]
    return node == header


def _add_loop(body: set[int], latch: int, predecessors: list[list[int]]) -> None:
    """Add all that reaches the latch without passing the header, which is there already."""
    waiting = [latch]
    while waiting:
        node = waiting.pop()
        if node not in body:
            body.add(node)
            waiting += predecessors[node]
