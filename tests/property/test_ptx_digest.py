import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.errors import KernelError
from burnish.ptx.digest import entry_digest
from burnish.ptx.module import parse
from burnish.ptx.text import bare, canonical

DATA = Path(__file__).parents[1] / "data"
AXPY = (DATA / "axpy.ptx").read_text()
MIXED = (DATA / "mixed.ptx").read_text()
TOKEN = re.compile(r'"[^"]*"|[\w$%.]+|[^\w$%.\s]')
TOKENS = TOKEN.findall(bare(AXPY))
BEGIN = TOKENS.index("{") + 1
DIGEST = entry_digest(parse(AXPY), "axpy")
GAP = st.sampled_from(
    [" ", "\n", "\t", "\r\n", ' // a remark { ; } "\n', "/* two\nlines */", "/**/ ", "  \n\n"]
)
MARKS = st.sampled_from(
    [
        "\n\t.loc\t1 7 3\n",
        " .loc 2 1 1, function_name $L__info_string0, inlined_at 1 4 0 ",
        "\n.loc 1 2 3, function_name $L__info_string1 + 12, inlined_at 1 4 0\n",
        "\n$L__tmp12:\n",
        "\n$L__func_begin0: // begins\n",
    ]
)
ENDS = [number + 1 for number in range(BEGIN, len(TOKENS)) if TOKENS[number] == ";"]


def needs_gap(left: str, right: str) -> bool:
    return bool(re.match(r"[\w$%.]", left[-1]) and re.match(r"[\w$%.]", right))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_white_space_and_comments_anywhere_never_change_the_digest(data: st.DataObject) -> None:
    gaps = data.draw(st.lists(st.none() | GAP, min_size=len(TOKENS), max_size=len(TOKENS)))
    text = ""
    for token, gap in zip(TOKENS, gaps, strict=True):
        text += gap or (" " if text and needs_gap(text, token) else "")
        text += token
    assert entry_digest(parse(text + "\n"), "axpy") == DIGEST


@given(st.lists(st.tuples(st.sampled_from(ENDS), MARKS), max_size=12))
@settings(max_examples=60, deadline=None)
def test_debug_marks_between_statements_never_change_the_digest(
    marks: list[tuple[int, str]],
) -> None:
    tokens = list(TOKENS)
    for place, mark in marks:
        tokens[place - 1] = f"{tokens[place - 1]} {mark}"
    assert entry_digest(parse(" ".join(tokens) + "\n"), "axpy") == DIGEST


@given(st.integers(BEGIN, len(TOKENS) - 2), st.sampled_from(["%zz1", "7", "+", ".q", "zz"]))
@settings(max_examples=200, deadline=None)
def test_any_other_token_in_the_body_changes_the_digest(place: int, token: str) -> None:
    for tokens in (
        [*TOKENS[:place], token, *TOKENS[place + 1 :]],
        [*TOKENS[:place], token, *TOKENS[place:]],
        [*TOKENS[:place], *TOKENS[place + 1 :]],
    ):
        if tokens.count("{") == tokens.count("}"):
            assert entry_digest(parse(" ".join(tokens)), "axpy") != DIGEST


@given(st.integers(BEGIN, len(TOKENS) - 3))
def test_two_different_neighbours_exchanged_change_the_digest(place: int) -> None:
    left, right = TOKENS[place], TOKENS[place + 1]
    tokens = [*TOKENS[:place], right, left, *TOKENS[place + 2 :]]
    if left != right and not {left, right} & {"{", "}"}:
        assert entry_digest(parse(" ".join(tokens)), "axpy") != DIGEST


@given(st.text(alphabet=' \n\t"\\/*.;{}()$%abL_1,+', max_size=80))
@settings(max_examples=300)
def test_the_canonical_form_is_its_own_canonical_form(text: str) -> None:
    try:
        code = bare(text)
    except KernelError:
        return
    once = canonical(code)
    assert canonical(once) == once
    assert len(code) == len(text)
    assert code.count("\n") == text.count("\n")


@given(st.integers(0, len(MIXED)), st.binary(max_size=20))
@settings(max_examples=200, deadline=None)
def test_garbage_is_read_or_refused_and_never_crashes(place: int, garbage: bytes) -> None:
    text = MIXED[:place] + garbage.decode("latin-1") + MIXED[place + len(garbage) :]
    try:
        module = parse(text)
    except KernelError:
        return
    for entry in module.entries:
        entry_digest(module, entry.name)
