"""Spaces of every shape that an engine must cope with, and loops that search them."""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import product

from burnish.model.control import Choice, Control, Domain, Layer, Range, Risk, Value
from burnish.model.frozen import FrozenMap
from burnish.model.space import Condition, Config, Space
from burnish.model.trial import Status, Trial
from burnish.search.engine import Engine

__all__ = [
    "SMALL",
    "branching",
    "constrained",
    "control",
    "every_config",
    "flat",
    "needle",
    "ok",
    "run",
    "sites",
    "tiny",
]


def control(name: str, domain: Domain, default: Value) -> Control:
    return Control(name, Layer.USER, domain, default, Risk.EXACT, "decides something", "a test")


def tiny() -> Space:
    return Space((control("only", Choice((False, True)), default=False),))


def flat() -> Space:
    return Space(
        (
            control("level", Choice((3, 0, 1, 2), usual_count=2), 3),
            control("registers", Range(16, 64, 8), 32),
            control("mode", Choice(("a", "b", "c")), "b"),
            control("ratio", Choice((0.5, 1.0, 2.0), is_ordered=True), 1.0),
        )
    )


def branching() -> Space:
    return Space(
        (
            control("unroll", Choice(("off", "on", "full")), "off"),
            control("count", Choice((2, 4, 8), is_ordered=True), 4),
            control("runtime", Choice((False, True)), default=False),
            control("width", Range(1, 5), 1),
        ),
        (
            # Not in the order of the controls: the grandchild's rule comes first.
            Condition("width", "runtime", (True,)),
            Condition("runtime", "unroll", ("on",)),
            Condition("count", "unroll", ("on", "full")),
        ),
    )


def constrained() -> Space:
    def fits(config: Config) -> bool:
        return int(config["x"]) * int(config["y"]) <= 64

    def even(config: Config) -> bool:
        return (int(config["x"]) + int(config["y"])) % 2 == 0

    return Space(
        (control("x", Range(1, 32), 4), control("y", Range(1, 32), 4)),
        constraints=(fits, even),
    )


def needle() -> Space:
    """More than a million configs, of which ten are allowed."""

    def equal(config: Config) -> bool:
        return len({config[name] for name in "abcdef"}) == 1

    controls = tuple(control(name, Range(0, 9), 0) for name in "abcdef")
    return Space(controls, constraints=(equal,))


def sites(count: int = 300) -> Space:
    """A kernel of many sites: more than 10^40 configs."""
    cache = Choice(("default", "na", "first", "cg", "cs", "lu"), usual_count=3)
    orders = [f"late/{window}/{seed}" for window in (4, 8, 16) for seed in range(20)]
    schedule = Choice(("none", "late", "early", *orders), usual_count=3)
    half = count // 2
    return Space(
        tuple(control(f"ptx.load[{site}].cache", cache, "default") for site in range(half))
        + tuple(control(f"ptx.block[{site}].schedule", schedule, "none") for site in range(half))
        + (
            control("ptxas.level", Choice((3, 2, 1, 0), usual_count=2), 3),
            control("ptxas.registers", Range(16, 255), 255),
        )
    )


SMALL: dict[str, Callable[[], Space]] = {
    "tiny": tiny,
    "flat": flat,
    "branching": branching,
    "constrained": constrained,
}


def every_config(space: Space) -> set[Config]:
    """All configs of a space, the slow and certain way; the default counts as allowed."""
    domains = [[item.domain.at(n) for n in range(item.domain.size)] for item in space]
    names = [item.name for item in space]
    every = {space.config(dict(zip(names, values, strict=True))) for values in product(*domains)}
    return {config for config in every if space.allows(config)} | {space.default}


def ok(number: int, config: Config) -> Trial:
    """A figure that depends on the config alone, whatever its values are."""
    figure = sum(ord(letter) for value in config.values() for letter in repr(value))
    return Trial(number, config, Status.OK, FrozenMap({"cost": float(figure)}))


def run(
    engine: Engine,
    evaluate: Callable[[int, Config], Trial] = ok,
    *,
    evaluations: int,
    jobs: int = 1,
) -> Iterator[Trial]:
    """Ask and tell as the loop does: up to ``jobs`` asked and not told, told in that order."""
    flying: deque[Trial] = deque()
    asked = 0
    while True:
        while len(flying) < jobs and asked < evaluations:
            config = engine.ask()
            if config is None:
                break
            flying.append(evaluate(asked, config))
            asked += 1
        if not flying:
            return
        engine.tell(flying[0])
        yield flying.popleft()
