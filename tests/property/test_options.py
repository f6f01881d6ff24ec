from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from burnish.toolchain.options import command_line, normal_form
from burnish.toolchain.ptxas_options import PTXAS, Option, Role, Takes

NUMBERS = st.integers(0, 300)
WORDS = st.sampled_from(["true", "false", "ca", "cg", "sm_90a", "max", "0", "foo"])
SPOKEN = [option for option in PTXAS if option.role is not Role.OPTIONS_FILE]


def values(option: Option) -> st.SearchStrategy[str]:
    if option.takes is Takes.LIST and option.role is not Role.ENTRY:
        return st.lists(NUMBERS.map(str), min_size=1, max_size=3).map(",".join)
    if option.takes in {Takes.NUMBER, Takes.ATTACHED}:
        return NUMBERS.map(str)
    return WORDS


@st.composite
def settings(draw: st.DrawFn) -> list[tuple[Option, str]]:
    """Options with values, none twice."""
    chosen = draw(st.lists(st.sampled_from(SPOKEN), unique=True, max_size=8))
    return [(option, draw(values(option))) for option in chosen]


@st.composite
def spelt(draw: st.DrawFn, said: list[tuple[Option, str]]) -> list[str]:
    """One of the ways to say it, in any order."""
    words: list[str] = []
    for option, value in draw(st.permutations(said)):
        words += draw(st.sampled_from(ways(option, value)))
    return words


def ways(option: Option, value: str) -> list[list[str]]:
    long, short = f"--{option.name}", f"-{option.short}"
    if option.takes is Takes.NOTHING:
        return [[long], [short]]
    found = [[long, value], [f"{long}={value}"], [f"{short}={value}"]]
    if option.takes is Takes.ATTACHED:
        return [*found, [f"{short}{value}"], [f"{long}={int(value):#x}"]]
    if option.takes is Takes.NUMBER:
        return [*found, [short, value], [f"{short}={int(value):#x}"], [long, f"0{int(value):o}"]]
    return [*found, [short, value]]


@given(settings().flatmap(lambda said: st.tuples(spelt(said), spelt(said))))
def test_order_and_spelling_do_not_matter(two: tuple[list[str], list[str]]) -> None:
    assert normal_form(two[0]) == normal_form(two[1])


@given(settings().flatmap(spelt), st.lists(st.sampled_from(["in.ptx", "-", "--new=1", "-zz"])))
def test_the_normal_form_is_its_own_normal_form(words: list[str], more: list[str]) -> None:
    normal = normal_form([*words, *more])
    again = normal_form(normal.options)
    assert again.options == normal.options
    asked_less = replace(normal, asks=False)  # a question is not said again
    assert normal_form(command_line(normal)) == asked_less


@given(settings().flatmap(spelt))
def test_messages_never_count(words: list[str]) -> None:
    messages = [f"--{option.name}" for option in PTXAS if option.role is Role.MESSAGE]
    assert normal_form([*messages, *words]).options == normal_form(words).options


@given(st.lists(st.text(max_size=12)))
def test_any_words_are_taken_apart(words: list[str]) -> None:
    normal = normal_form([word for word in words if "optf" not in word])
    assert tuple(sorted(normal.options)) == normal.options
