import zlib
from pathlib import Path

import pytest

from burnish.acf.model import Shape
from burnish.acf.payload import MOST_BYTES, decode, encode, pack, unpack
from burnish.acf.read import is_text, load, load_bytes, read
from burnish.errors import AcfError

DATA = Path(__file__).parents[1] / "data" / "acf"
FULL = (DATA / "full.acf").read_text()
STRICT = (DATA / "strict.acf").read_text()


def refused(text: str) -> str:
    with pytest.raises(AcfError) as caught:
        read(text, "kernel.acf")
    assert "\n" not in str(caught.value), "one line"
    return str(caught.value)


def line_with(text: str, part: str, after: int = 0) -> int:
    """The number of the first line after line ``after`` that starts so."""
    lines = text.splitlines()
    return next(n for n in range(after + 1, len(lines) + 1) if lines[n - 1].startswith(part))


@pytest.mark.parametrize(
    ("old", "new", "line_of", "says"),
    [
        ('"burnish-acf/1"', '"burnish-acf/2"', "format", "use a newer Burnish"),
        ('format = "burnish-acf/1"', "format = 1", "format", "must be a string"),
        ("[[tuned]]", "colour = 3\n[[tuned]]", "colour", "colour: unknown key"),
        ('arch = "sm_90"', 'arch = "sm_90"\nwhy = 1', "why", "tuned.why: unknown key"),
        ('arch = "sm_90"', "arch = 90", "arch", "tuned.arch: must be a string, not a whole number"),
        ('arch = "sm_90"', 'arch = ""', "arch", "must not be empty"),
        ('arch = "sm_90"', 'arch = "sm 90"', "arch", "form"),
        ('arch = "sm_90"\n', "", "[[tuned]]", "the key 'arch' is missing"),
        ('key = "ptx:0123', 'key = "PTX:0123', "key", "does not have the form"),
        ('"ptxas 13.5.37"', '"ptxas"', "baseline_compiler", "does not have the form"),
        ('entry = "stencil"', 'entry = "a b"', "entry", "does not have the form"),
        ("baseline_options = []", "baseline_options = [1]", "baseline_options", "list of strings"),
        ("baseline_options = []", 'baseline_options = ""', "baseline_options", "must be a list"),
        ("[0, 3]", "[3, 0]", "requires", "the lower one first"),
        ("[0, 3]", "[0, true]", "requires", "pairs of parameter positions"),
        ("[0, 3]", "[0, 3, 4]", "requires", "pairs of parameter positions"),
        ("[[0, 1], [0, 3]]", "[]", "requires", "leave 'requires' out"),
        ("disjoint =", "aligned = 16, disjoint =", "requires", "aligned: unknown key"),
        ("{ disjoint = [[0, 1], [0, 3]] }", "{}", "requires", "'disjoint' is missing"),
        ("[tuned.code]", "[tuned.code]\nshell = 'rm'", "shell", "tuned.code.shell: unknown key"),
        ("binary_sha256 = ", 'binary_sha256 = "" #', "binary_sha256", "must not be empty"),
        ("ptx = '", "ptx = '!", "ptx", "is no base64"),
        ("ptx = 'eN", "ptx = 'eM", "ptx", "is no zlib data"),
        ('"ptxas.maxrregcount" = 255', "ptxas.regs = 2", "ptxas.regs", "needs quotes"),
        ('"ptxas.fmad" = false', '"ptxas.fmad" = nan', '"ptxas.fmad"', "finite number"),
        ('"ptxas.fmad" = false', '"ptxas.fmad" = 2024-01-01', '"ptxas.fmad"', "not a date"),
        ('"ptxas.fmad" = false', '"ptxas.fmad" = [1]', '"ptxas.fmad"', "not a list"),
        ('"user.scale" = 0.5', '"user.scale" = 9223372036854775808', '"user.scale"', "number"),
        ('verdict = "BETTER"', 'verdict = "WRONG"', "verdict", "does not have the form"),
        ("baseline = 99.6", "baseline = inf", "baseline =", "must be a finite number"),
        ("baseline = 99.6", "baseline = true", "baseline =", "not true or false"),
        ("ratio = 1.142\n", "ratio = 0\n", "ratio", "is not above 0"),
        ("ratio = 1.142\n", "", "[tuned.evidence]", "'ratio' is missing"),
        ("interval = [1.137, 1.147]\n", "", "[tuned.evidence]", "'interval' is missing"),
        ("interval = [1.137, 1.147]\n", "interval = [2, 1]\n", "interval", "lower bound first"),
        ("interval = [1.137, 1.147]\n", "interval = [1]\n", "interval", "two finite numbers"),
        ("[40, 48]", '[40, "48"]', "figures", "two finite numbers"),
        ('name = "640"', 'name = "640", hidden = 1', "workloads", "workloads.hidden: unknown"),
        ("held_out = true", "held_out = 1", "workloads", "must be true or false"),
        ('regime = "cold"', 'regime = "lukewarm"', "regime", "form cold|warm"),
        ("date = ", 'date = "yesterday" #', "date", "does not have the form"),
        ("date = ", "date = 2026-11-30 #", "date", "must be a string, not a date"),
        ("rounds = 180", "rounds = -1", "rounds", "is not in 0 to"),
        ("rounds = 180", "rounds = 1.5", "rounds", "must be a whole number"),
        ('study = "stencil-7"', 'study = "stencil-7"\nmood = 1', "mood", "evidence.mood: unknown"),
        ("grid_x = [1, 64]", "grid_x = [64, 1]", "shapes", "holds nothing"),
        ("grid_x = [1, 64]", "grid_x = [0, 64]", "shapes", "0 is not in 1 to"),
        ("grid_x = [1, 64]", "grid_w = [1, 64]", "shapes", "grid_w: unknown key"),
        ("{ grid_x = [1, 64], grid_z = [1, 1] }", "{}", "shapes", "without any range"),
        ("10 = [0, 0]", "x = [0, 0]", "shapes", "the position of a parameter"),
        ("10 = [0, 0]", "010 = [0, 0]", "shapes", "the position of a parameter"),
        ("warps = 8", "warps = 0", "warps", "is not in 1 to 64"),
        ("warps = 8", "warps = true", "warps", "must be a whole number"),
        ("cluster = [2, 1, 1]", "cluster = [2, 1]", "cluster", "list of 3 whole numbers"),
        ("scratch = [4096, 128]", "scratch = [4096, 100]", "scratch", "no power of two"),
        ("warps = 8", "waves = 8", "waves", "launch.waves: unknown key"),
        ("opaque = 'AAFO", "opaque = 'AA FO", "opaque", "is no base64"),
        ("opaque = 'AAFO", "opaque = '=AAFO", "opaque", "is no base64"),
    ],
)
def test_what_is_not_understood_is_refused_by_key_and_line(
    old: str, new: str, line_of: str, says: str
) -> None:
    assert old in FULL
    text = FULL.replace(old, new, 1)
    message = refused(text)
    # What was changed in a later block stands in it.
    start = text[: text.index(new)].count("\n") - 20 if new else 0
    assert message.startswith(f"kernel.acf:{line_with(text, line_of, max(start, 0))}: "), message
    assert says in message


def test_an_error_in_a_later_block_names_its_own_line() -> None:
    text = FULL.replace('entry = "dot"', "entry = 7")
    line = line_with(text, "entry = 7")
    assert refused(text) == f"kernel.acf:{line}: tuned.entry: must be a string, not a whole number"


def test_comments_strings_and_nesting_do_not_confuse_the_line() -> None:
    text = FULL.replace(
        'metric = "runtime"',
        '# [[tuned]]\nreason = """\n[tuned.code]\nptx = 1\n"""\nmetric = [\n  "a",\n]',
        1,
    ).replace('reason = "better on every workload"\n', "")
    assert refused(text).startswith(f"kernel.acf:{line_with(text, 'metric = [')}: ")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "cut short"),
        ("format = ", "cut short"),
        ("\n", "'format' is missing"),
        ("ELF of some sort\n", "kernel.acf:1: is not TOML"),
        ("format = \n", "kernel.acf:1: is not TOML"),
        ('format = "burnish-acf/1"\n', "the key 'tuned' is missing"),
        ('format = "burnish-acf/1"\ntuned = []\n', "there is no tuned block"),
        ('format = "burnish-acf/1"\ntuned = [1]\n', "list of tables, with a whole number in it"),
        ('format = "burnish-acf/1"\n[tuned]\nkey = 1\n', "must be a list, not a table"),
        ("a = " + "[" * 50_000 + "]" * 50_000 + "\n", "nested too deeply"),
        (f"a = {'9' * 5000}\n", "is not TOML"),
        ("a = 1\na = 2\n", "kernel.acf:2: is not TOML: Cannot overwrite"),
        ('strict = "yes"\nformat = "burnish-acf/1"\n', "must be true or false"),
    ],
)
def test_what_is_no_acf_is_refused(text: str, says: str) -> None:
    assert says in refused(text)


@pytest.mark.parametrize("whole", [FULL, STRICT])
def test_a_file_that_was_cut_inside_a_block_is_refused_or_lost_no_decision(whole: str) -> None:
    """Cut anywhere, it never says something else: what is left are whole, equal blocks."""
    for length in range(len(whole)):
        try:
            acf = read(whole[:length], "kernel.acf")
        except AcfError:
            continue
        for cut, tuned in zip(acf.tuned, read(whole, "kernel.acf").tuned, strict=False):
            assert cut.code == tuned.code or whole is STRICT
            assert cut.disjoint == tuned.disjoint
            assert cut.shapes == tuned.shapes
            assert cut.launch == tuned.launch


def test_evidence_and_digest_may_be_absent_only_in_a_strict_file() -> None:
    acf = read(STRICT, "k.acf")
    assert acf.strict
    assert acf.tuned[0].evidence is None
    assert acf.tuned[0].code.binary_sha256 == ""
    assert "'binary_sha256' is missing" in refused(STRICT.replace("strict = true\n", ""))
    with_digest = STRICT.replace("strict = true\n", "") + f'binary_sha256 = "{"0" * 64}"\n'
    assert "'evidence' is missing" in refused(with_digest)


def test_unknown_controls_are_kept_as_they_are() -> None:
    text = FULL.replace('"ptxas.fmad" = false', '"quantum.spin" = "up"', 1)
    assert read(text, "k.acf").tuned[0].controls["quantum.spin"] == "up"


def test_a_file_is_loaded_whole_or_refused_with_its_name(tmp_path: Path) -> None:
    assert load(DATA / "full.acf") == read(FULL, "x")
    with pytest.raises(AcfError, match=r"missing\.acf: cannot be read: No such file"):
        load(tmp_path / "missing.acf")
    with pytest.raises(AcfError, match="is no regular file"):
        load(tmp_path)


def test_windows_line_ends_are_read() -> None:
    data = FULL.replace("\n", "\r\n").encode()
    assert load_bytes(data, "k.acf") == read(FULL, "k.acf")


@pytest.mark.parametrize("data", [b"\x7fELF\x00\x01", b"\xff\xfe", b"text\0"])
def test_bytes_that_are_no_text_are_not_ours(data: bytes) -> None:
    assert not is_text(data)
    with pytest.raises(AcfError, match="is not text"):
        load_bytes(data, "k.acf")


def test_a_zlib_bomb_is_refused_before_it_unpacks() -> None:
    bomb = encode(zlib.compress(b" " * (MOST_BYTES + 1), 9))
    with pytest.raises(AcfError, match="unpacks to more than 64 MiB"):
        unpack(bomb)


@pytest.mark.parametrize(
    ("packed", "says"),
    [
        (encode(zlib.compress(b"text")[:-1]), "cut short"),
        (encode(zlib.compress(b"text") + b"x"), "something after its end"),
        (encode(zlib.compress(b"\xff")), "UTF-8"),
        (pack("text")[:-4] + "AAA=", "zlib|cut short"),
        ("", "cut short"),
    ],
)
def test_a_damaged_payload_is_refused(packed: str, says: str) -> None:
    with pytest.raises(AcfError, match=says):
        unpack(packed)


@pytest.mark.parametrize(
    "text", ["AAA", "AA=", "A===", "AAAA\n", "AA-_", "AB==", "====", "AA==AA=="]
)
def test_base64_is_strict(text: str) -> None:
    with pytest.raises(AcfError, match="base64"):
        decode(text)


def test_a_shape_holds_where_all_its_ranges_do() -> None:
    shape = Shape(((1, 64), None, (1, 1)), ((2, (512, 1024)),))
    assert shape.holds((64, 9, 1), {2: 512, 3: 0})
    assert not shape.holds((65, 9, 1), {2: 512})
    assert not shape.holds((64, 9, 2), {2: 512})
    assert not shape.holds((64, 9, 1), {2: 1025})
    assert not shape.holds((64, 9, 1), {}), "an unknown parameter proves nothing"
