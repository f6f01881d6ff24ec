"""`burnish ptxas` with a scripted ptxas: what is taken, what is refused, what a failure leaves."""

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.apply import PTX, SOURCE, Bench, tuned_block
from tests.helpers.fake_ptxas import Fake, alive, flood, hang, install, refuse
from tests.helpers.processes import wait_for

from burnish.acf.model import Launch, Shape, Tuned, TunedCode

ARGV = ("-arch=sm_90", "k.ptx", "-o", "k.cubin")
WAY = TunedCode("ptxas 13.5.37", ("--maxrregcount=32",), "")


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """A ptxas 13.5.37 that writes what it was told into its output."""
    found = install(tmp_path / "real")
    found.always('echo "$*" > "$out"; echo said; echo warned >&2')
    return found


@pytest.fixture
def bench(tmp_path: Path, fake: Fake) -> Bench:
    found = Bench.make(tmp_path, BURNISH_PTXAS=str(fake.tool.path))
    (found.folder / "k.ptx").write_text(PTX)
    return found


def both(code: TunedCode = WAY) -> tuple[Tuned, Tuned]:
    return tuned_block("add", code), tuned_block("mul", code)


def was_plain(bench: Bench, fake: Fake, done: subprocess.CompletedProcess[str]) -> list[str]:
    """Check that the real ptxas did the plain build; returns Burnish's lines."""
    assert done.returncode == 0
    assert fake.calls()[-1] == " ".join(ARGV)
    assert (bench.folder / "k.cubin").read_text() == " ".join(ARGV) + "\n"
    assert done.stdout == "said\n"
    lines = done.stderr.splitlines()
    assert lines.pop() == "warned"
    assert all(line.startswith("burnish: ") for line in lines)
    assert bench.leftovers() == []
    return lines


def test_without_anything_tuned_the_real_ptxas_takes_over(bench: Bench, fake: Fake) -> None:
    assert was_plain(bench, fake, bench.burnish(*ARGV)) == []
    assert len(fake.calls()) == 1


def test_its_exit_code_output_and_errors_are_the_real_ones(bench: Bench, fake: Fake) -> None:
    fake.always("echo out; echo err >&2; exit 7")
    done = bench.burnish(*ARGV)
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "err\n")


def test_our_own_options_never_reach_the_real_ptxas(bench: Bench, fake: Fake) -> None:
    done = bench.burnish("--allow", "conditional", *ARGV, "--strict-controls", "--allow=rounding")
    assert was_plain(bench, fake, done) == []


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--allow"], "--allow needs a risk after it"),
        (["--allow=all"], "the risks are conditional, rounding, unproven"),
        (["--apply-controls"], "--apply-controls needs a file after it"),
        (["--apply-controls="], "--apply-controls needs a file after it"),
    ],
)
def test_an_incomplete_option_is_a_usage_error(bench: Bench, argv: list[str], says: str) -> None:
    done = bench.burnish(*ARGV, *argv)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert says in done.stderr


@pytest.mark.parametrize("form", [["--apply-controls", "k.acf"], ["-apply-controls=k.acf"]])
def test_tuned_options_replace_the_plain_ones(bench: Bench, fake: Fake, form: list[str]) -> None:
    bench.acf("k.acf", *both(), strict=True)
    done = bench.burnish(*form, *ARGV, "-v")
    assert done.returncode == 0
    assert (done.stdout, done.stderr) == ("said\n", "warned\n")
    [call] = fake.calls()
    assert call.split() == [
        "--gpu-name=sm_90",
        "--maxrregcount=32",
        "--verbose",
        "--output-file",
        "burnish.out",
        "burnish.0.ptx",
    ]
    assert (bench.folder / "k.cubin").read_text() == call + "\n"
    assert bench.leftovers() == []


def test_an_options_file_may_name_the_acf(bench: Bench, fake: Fake) -> None:
    bench.acf("my k.acf", *both(), strict=True)
    (bench.folder / "options").write_text('-arch sm_90 --apply-controls "my k.acf" -o k.cubin')
    done = bench.burnish("-optf", "options", "k.ptx")
    assert done.returncode == 0
    assert "--maxrregcount=32" in fake.calls()[0]
    (bench.folder / "k.ptx").write_text(PTX.replace("add.f32", "sub.f32"))
    bench.acf("my k.acf", both(replace(WAY, binary_sha256="0" * 64))[0])
    done = bench.burnish("-optf", "options", "k.ptx")
    assert "the kernel is not the one that was tuned" in done.stderr
    assert fake.calls()[1] == "--gpu-name=sm_90 --output-file k.cubin k.ptx"


def test_without_an_output_option_the_usual_file_is_written(bench: Bench) -> None:
    bench.acf("k.acf", *both(), strict=True)
    assert bench.burnish("--apply-controls=k.acf", "-arch=sm_90", "k.ptx").returncode == 0
    assert "--maxrregcount=32" in (bench.folder / "elf.o").read_text()


def test_a_shelf_is_looked_at_where_no_file_is_given(bench: Bench, fake: Fake) -> None:
    (bench.folder / "shelf").mkdir()
    bench.acf("shelf/k.acf", *both(replace(WAY, binary_sha256="0" * 64)))
    lines = was_plain(bench, fake, bench.burnish(*ARGV, BURNISH_SHELF="shelf"))
    assert len(fake.calls()) == 2, "it was tried, and other code came out"
    assert len(lines) == 1
    (bench.folder / "k.ptx").write_text(PTX.replace("entry add", "entry a").replace("mul(", "m("))
    assert was_plain(bench, fake, bench.burnish(*ARGV, BURNISH_SHELF="shelf")) == []


FAILURES = {
    "missing file": ({}, "k.acf: cannot be read: No such file or directory"),
    "malformed": ({"k.acf": "rubbish\n"}, "k.acf:1: is not TOML"),
}


@pytest.mark.parametrize(("files", "says"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("strict", [False, True])
def test_a_file_that_cannot_be_read(
    bench: Bench, fake: Fake, files: dict[str, str], says: str, *, strict: bool
) -> None:
    for name, text in files.items():
        (bench.folder / name).write_text(text)
    refused(bench, fake, says, strict=strict)


def test_a_truncated_file_and_one_with_an_unknown_key(bench: Bench, fake: Fake) -> None:
    bench.acf("k.acf", *both(replace(WAY, binary_sha256="0" * 64)))
    text = (bench.folder / "k.acf").read_text()
    (bench.folder / "k.acf").write_text(text[:-9])
    refused(bench, fake, "k.acf: the last line has no end; the file was cut short", strict=False)
    (bench.folder / "k.acf").write_text(text.replace("arch", "chip = 1\narch", 1))
    refused(bench, fake, "k.acf:6: tuned.chip: unknown key", strict=False)
    refused(bench, fake, "k.acf:6: tuned.chip: unknown key", strict=True)


def refused(bench: Bench, fake: Fake, says: str, *, strict: bool) -> None:
    """The build is plain with one line of warning, or it fails and writes nothing."""
    if strict:
        (bench.folder / "k.cubin").unlink(missing_ok=True)
        before = len(fake.calls())
        done = bench.burnish("--apply-controls=k.acf", *ARGV, BURNISH_STRICT="1")
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert not (bench.folder / "k.cubin").exists()
        assert not [call for call in fake.calls()[before:] if "k.cubin" in call]
    else:
        done = bench.burnish("--apply-controls=k.acf", *ARGV)
        assert len(was_plain(bench, fake, done)) == 1
        assert "building plain" in done.stderr
    assert says in done.stderr, done.stderr


HERE = replace(WAY, binary_sha256="0" * 64)
BLOCKS = {
    "other kernel": (replace(both(HERE)[0], key="ptx:" + "0" * 64), "tune it again"),
    "other compiler": (
        replace(both(HERE)[0], baseline_compiler="ptxas 12.4.131"),
        "was tuned for ptxas 12.4.131, and this is ptxas 13.5.37",
    ),
    "other options": (
        replace(both(HERE)[0], baseline_options=("--fmad=false",)),
        "was tuned for builds with --fmad=false, and this one has none",
    ),
    "shapes": (replace(both(HERE)[0], shapes=(Shape(((1, 2), None, None)),)), "certain launches"),
    "launch": (replace(both(HERE)[0], launch=Launch(warps=8)), "certain launches"),
    "condition": (
        replace(both(replace(HERE, options=()))[0], disjoint=((0, 1),)),
        "needs --allow conditional: the buffers of parameters 0 and 1 do not overlap",
    ),
    "one entry of two": (both(HERE)[0], "not every entry does so alike"),
    "not installed": (
        tuned_block("add", TunedCode("ptxas 13.1.7", (), "0" * 64)),
        "not every entry does so alike",
    ),
    "payload": (
        tuned_block("add", TunedCode("ptxas 13.5.37", (), "0" * 64, ".version 8.0\nrubbish")),
        "k.acf: add: the tuned PTX does not fit",
    ),
    "no cubin": (
        tuned_block("add", TunedCode("ptxas 13.5.37", (), "0" * 64)),
        "",
    ),
}


@pytest.mark.parametrize(("block", "says"), BLOCKS.values(), ids=BLOCKS)
@pytest.mark.parametrize("strict", [False, True])
def test_a_block_that_matches_but_does_not_fit(
    bench: Bench, fake: Fake, block: Tuned, says: str, *, strict: bool
) -> None:
    bench.acf("k.acf", block)
    refused(bench, fake, says, strict=strict)


def test_a_compiler_that_is_not_installed(bench: Bench, fake: Fake) -> None:
    bench.acf("k.acf", *both(TunedCode("ptxas 13.1.7", (), "0" * 64)))
    says = "ptxas 13.1.7 is not installed; get it with: burnish toolchain add ptxas==13.1.7"
    refused(bench, fake, says, strict=False)
    refused(bench, fake, says, strict=True)


def test_an_added_compiler_is_called_by_its_version(
    bench: Bench, fake: Fake, tmp_path: Path
) -> None:
    added = tmp_path / "home" / ".cache" / "burnish" / "toolchains" / "ptxas-12.9.86"
    other = install(added, version="12.9.86")
    other.always('echo other > "$out"')
    bench.acf("k.acf", *both(TunedCode("ptxas 12.9.86", (), "")), strict=True)
    assert bench.burnish("--apply-controls=k.acf", *ARGV).returncode == 0
    assert (bench.folder / "k.cubin").read_text() == "other\n"
    assert len(other.calls()) == 1
    assert fake.calls() == []


OF_OTHERS = {
    "arch": tuned_block("add", HERE, arch="sm_80"),
    "kernel": replace(tuned_block("add", HERE), entry="sub", key="ptx:" + "0" * 64),
}


@pytest.mark.parametrize("block", OF_OTHERS.values(), ids=OF_OTHERS)
@pytest.mark.parametrize("strict", [False, True])
def test_a_named_file_for_another_arch_or_kernel(
    bench: Bench, fake: Fake, block: Tuned, *, strict: bool
) -> None:
    bench.acf("k.acf", block)
    refused(bench, fake, "burnish: k.acf: no block is for add, mul on sm_90; ", strict=strict)


@pytest.mark.parametrize("block", OF_OTHERS.values(), ids=OF_OTHERS)
def test_a_shelf_without_a_block_for_it_fails_nothing(
    bench: Bench, fake: Fake, block: Tuned
) -> None:
    (bench.folder / "shelf").mkdir()
    bench.acf("shelf/k.acf", block)
    done = bench.burnish(*ARGV, BURNISH_SHELF="shelf", BURNISH_STRICT="1")
    assert was_plain(bench, fake, done) == []


def test_a_part_of_a_build_need_not_be_what_a_file_is_for(bench: Bench, fake: Fake) -> None:
    """So `burnish nvcc` says of a fat build, whose halves one file is not all for."""
    bench.acf("k.acf", OF_OTHERS["arch"])
    argv = [*ARGV, "--apply-controls=k.acf", "--strict-controls=part"]
    [line] = was_plain(bench, fake, bench.burnish(*argv, BURNISH_STRICT="1"))
    assert line == "burnish: k.acf: no block is for add, mul on sm_90; building plain"
    bench.acf("k.acf", both(HERE)[0])
    assert bench.burnish(*argv).returncode == 1


def test_every_file_that_is_named_must_be_applied_where_that_is_asked_for(
    bench: Bench, fake: Fake
) -> None:
    bench.acf("k.acf", *both(), strict=True)
    bench.acf("l.acf", OF_OTHERS["kernel"])
    bench.acf("m.acf", OF_OTHERS["kernel"], strict=True)
    argv = ["--apply-controls=k.acf", *ARGV]
    assert bench.burnish(*argv, "--apply-controls=l.acf").returncode == 0
    (bench.folder / "k.cubin").unlink()
    for more in (["--apply-controls=l.acf", "--strict-controls"], ["--apply-controls=m.acf"]):
        before = len(fake.calls())
        done = bench.burnish(*argv, *more)
        assert done.returncode == 1
        assert "none of its blocks is applied; nothing was built" in done.stderr
        assert len(fake.calls()) == before
        assert not (bench.folder / "k.cubin").exists()


@pytest.mark.parametrize("text", [".version 8.0\n.target sm_90\n", None])
def test_where_there_is_nothing_to_apply_to_a_strict_build_goes_on(
    bench: Bench, fake: Fake, text: str | None
) -> None:
    bench.acf("k.acf", *both(HERE))
    argv = ["--apply-controls=k.acf", "--strict-controls", *ARGV]
    if text is None:
        assert bench.burnish("--version", *argv[:2]).returncode == 0
        return
    (bench.folder / "k.ptx").write_text(text)
    [line] = was_plain(bench, fake, bench.burnish(*argv))
    assert "a file without entries" in line


def test_a_ptx_that_we_cannot_read_is_not_built_plain_where_a_file_must_be_applied(
    bench: Bench, fake: Fake
) -> None:
    (bench.folder / "k.ptx").write_text("")
    bench.acf("k.acf", *both(HERE))
    refused(bench, fake, "k.ptx: the PTX is empty", strict=True)


def test_the_condition_can_be_stated(bench: Bench, fake: Fake) -> None:
    blocks = [replace(block, disjoint=((0, 1),)) for block in both()]
    bench.acf("k.acf", *blocks, strict=True)
    argv = ["--apply-controls=k.acf", *ARGV]
    assert bench.burnish(*argv).returncode == 1, "a strict file must be applied"
    assert bench.burnish(*argv, "--allow=conditional").returncode == 0
    assert bench.burnish(*argv, BURNISH_ALLOW="conditional").returncode == 0
    assert len(fake.calls()) == 2


def test_a_strict_file_of_which_nothing_is_applied_is_an_error(bench: Bench, fake: Fake) -> None:
    bench.acf("k.acf", tuned_block("add", WAY, arch="sm_80"), strict=True)
    done = bench.burnish("--apply-controls=k.acf", *ARGV)
    assert done.returncode == 1
    assert "k.acf: none of its blocks is applied; nothing was built" in done.stderr
    assert fake.calls() == []
    assert not (bench.folder / "k.cubin").exists()


def test_entries_that_are_not_compiled_need_no_block(bench: Bench, fake: Fake) -> None:
    bench.acf("k.acf", both()[0], strict=True)
    done = bench.burnish("--apply-controls=k.acf", *ARGV, "--entry", "add")
    assert done.returncode == 0
    assert "--maxrregcount=32 --entry=add" in fake.calls()[0]


def test_exported_functions_keep_the_plain_options(bench: Bench) -> None:
    ptx = PTX + ".visible .func helper() { ret; }\n"
    (bench.folder / "k.ptx").write_text(ptx)
    options = ("--compile-only", "--maxrregcount=32")
    code = TunedCode("ptxas 13.5.37", options, "")
    blocks = [
        replace(tuned_block(entry, code, ptx), baseline_options=("--compile-only",))
        for entry in ("add", "mul")
    ]
    bench.acf("k.acf", *blocks, strict=True)
    done = bench.burnish("--apply-controls=k.acf", *ARGV, "-c")
    assert done.returncode == 1
    assert "also of functions that were not tuned" in done.stderr


def test_several_files_are_looked_up_each(bench: Bench, fake: Fake) -> None:
    other = PTX.replace("y add", "y sub").replace("y mul", "y div").replace("0f3", "0f4")
    (bench.folder / "l.ptx").write_text(other)
    blocks = [tuned_block("sub", WAY, other), tuned_block("div", WAY, other)]
    bench.acf("k.acf", *both(), strict=True)
    bench.acf("l.acf", *blocks, strict=True)
    argv = ["--apply-controls=k.acf", "--apply-controls=l.acf", *ARGV]
    assert bench.burnish(*argv, "l.ptx").returncode == 0
    assert fake.calls()[0].endswith("burnish.0.ptx burnish.1.ptx")
    done = bench.burnish("--apply-controls=k.acf", *ARGV, "l.ptx")
    assert "not every entry does so alike" in done.stderr


def test_a_refusal_names_the_users_file_and_the_build_stays_plain(bench: Bench, fake: Fake) -> None:
    bench.acf("k.acf", *both(HERE))
    fake.when("burnish.0.ptx", refuse("Unexpected instruction"))
    says = "ptxas 13.5.37 failed on the tuned PTX (ptxas fatal   : Unexpected instruction)"
    refused(bench, fake, says, strict=False)
    refused(bench, fake, says, strict=True)


@pytest.mark.parametrize(
    ("behaviour", "says"),
    [
        (hang(), "did not end within 0.5 s"),
        (flood(2 << 20), "printed more than 1 MiB"),
        ("kill -SEGV $$; sleep 1", "failed on the tuned PTX"),
        ("true", "made no output"),
        ('head -c 40 "$here/cubin" > "$out"', ""),
    ],
    ids=["hangs", "floods", "crashes", "writes nothing", "writes half"],
)
def test_whatever_the_named_compiler_does_the_build_is_plain(
    bench: Bench, fake: Fake, behaviour: str, says: str
) -> None:
    bench.acf("k.acf", *both(HERE))
    fake.when("burnish.0.ptx", behaviour)
    done = bench.burnish("--apply-controls=k.acf", *ARGV, wall_s=0.5)
    [line] = was_plain(bench, fake, done)
    assert says in line
    assert alive(fake) == []


def test_messages_speak_of_the_users_file(bench: Bench, fake: Fake) -> None:
    bench.acf("k.acf", *both(), strict=True)
    fake.always('echo "ptxas $6, line 3; warning" >&2; echo > "$out"')
    done = bench.burnish("--apply-controls=k.acf", *ARGV, "-v")
    assert done.stderr == "ptxas k.ptx, line 3; warning\n"


def test_an_output_that_cannot_be_written_fails_a_strict_build(bench: Bench) -> None:
    bench.acf("k.acf", *both(), strict=True)
    done = bench.burnish("--apply-controls=k.acf", "-arch=sm_90", "k.ptx", "-o", "no/k.cubin")
    assert done.returncode == 1
    assert "no/k.cubin: cannot be written: No such file or directory" in done.stderr
    assert bench.leftovers() == []


def test_a_full_disk_leaves_no_half_file(bench: Bench) -> None:
    """A limit on file sizes stands in for the disk: writing fails half-way in the same way."""
    bench.acf("k.acf", *both(), strict=True)
    (bench.folder / "k.cubin").write_text("old")
    start = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (7000, resource.RLIM_INFINITY))\n"
        f"sys.path.append({str(SOURCE)!r})\n"
        "from burnish.apply import build, ptxas\n"
        "old = build._image\n"
        "build._image = lambda *args: old(*args) + bytes(10000)\n"
        "sys.exit(ptxas.main(sys.argv[1:]))\n"
    )
    done = bench.run(sys.executable, "-I", "-S", "-c", start, "--apply-controls=k.acf", *ARGV)
    assert done.returncode == 1
    assert "k.cubin: cannot be written: File too large" in done.stderr
    assert (bench.folder / "k.cubin").read_text() == "old"
    names = {path.name for path in bench.folder.iterdir()}
    assert names == {"k.ptx", "k.acf", "k.cubin"}


def test_a_device_as_output_stays_a_device(bench: Bench) -> None:
    bench.acf("k.acf", *both(), strict=True)
    done = bench.burnish("--apply-controls=k.acf", "-arch=sm_90", "k.ptx", "-o", "/dev/null")
    assert done.returncode == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("data", [b"\x00\x01\x02 NVIDIA", b"\xff\xfe"])
def test_nvidias_own_file_is_passed_on(bench: Bench, fake: Fake, data: bytes) -> None:
    (bench.folder / "nv.acf").write_bytes(data)
    done = bench.burnish("--apply-controls", "nv.acf", *ARGV)
    assert done.returncode == 0
    assert fake.calls() == ["--apply-controls nv.acf " + " ".join(ARGV)]
    assert done.stderr == "warned\n"


@pytest.mark.parametrize("strict", [False, True])
def test_nvidias_own_file_is_not_for_an_old_ptxas(
    bench: Bench, tmp_path: Path, *, strict: bool
) -> None:
    old = install(tmp_path / "old", version="13.2.86")
    (bench.folder / "nv.acf").write_bytes(b"\x00\x01\x02 NVIDIA")
    argv = ["--apply-controls", "nv.acf", *ARGV, *["--strict-controls"] * strict]
    done = bench.burnish(*argv, BURNISH_PTXAS=str(old.tool.path))
    assert done.returncode == int(strict)
    assert "nv.acf: is NVIDIA's own, which ptxas 13.2.86 does not know" in done.stderr
    assert old.calls() == ([] if strict else ["--gpu-name=sm_90 --output-file k.cubin k.ptx"])


def test_an_opaque_file_in_a_block_is_handed_to_the_compiler(bench: Bench, fake: Fake) -> None:
    bench.acf("k.acf", *both(replace(WAY, opaque=b"\x00NVIDIA")), strict=True)
    fake.always('cp burnish.acf "$out"')
    assert bench.burnish("--apply-controls=k.acf", *ARGV).returncode == 0
    assert "--apply-controls=burnish.acf" in fake.calls()[0]
    assert (bench.folder / "k.cubin").read_bytes() == b"\x00NVIDIA"


@pytest.mark.parametrize("argv", [["--version"], ["--help"]])
def test_questions_are_answered_by_the_real_ptxas(bench: Bench, argv: list[str]) -> None:
    bench.acf("k.acf", *both(HERE))
    done = bench.burnish("--apply-controls=k.acf", *argv)
    assert done.returncode == 0
    assert "Cuda compilation tools" in done.stdout or "Usage" in done.stdout
    assert done.stderr == ""


def test_standard_input_is_left_alone(bench: Bench, fake: Fake) -> None:
    bench.acf("k.acf", *both(HERE))
    done = bench.burnish("--apply-controls=k.acf", "-arch=sm_90", "-", "-o", "k.cubin")
    assert "standard input cannot be looked up; name a PTX file; building plain" in done.stderr
    assert fake.calls() == ["-arch=sm_90 - -o k.cubin"]


def test_ptx_that_is_none_is_the_real_ptxas_to_complain_about(bench: Bench, fake: Fake) -> None:
    bench.acf("k.acf", *both(HERE))
    (bench.folder / "k.ptx").write_text("")
    [line] = was_plain(bench, fake, bench.burnish("--apply-controls=k.acf", *ARGV))
    assert line == "burnish: k.ptx: the PTX is empty; building plain"
    (bench.folder / "k.ptx").unlink()
    assert was_plain(bench, fake, bench.burnish("--apply-controls=k.acf", *ARGV)) == []


def test_no_ptxas_at_all_is_one_clear_line(bench: Bench) -> None:
    start = (
        f"import sys\nsys.path.append({str(SOURCE)!r})\n"
        "from burnish.apply import ptxas\n"
        "ptxas.find_one = lambda *args: None\n"
        "sys.exit(ptxas.main(sys.argv[1:]))\n"
    )
    argv = [sys.executable, "-I", "-S", "-c", start, *ARGV]
    done = bench.run(*argv, BURNISH_PTXAS="")
    assert done.returncode == 1
    assert done.stderr == "burnish: no ptxas was found; see: burnish doctor\n"
    done = bench.run(*argv, BURNISH_PTXAS="/no/ptxas")
    assert done.returncode == 1
    assert done.stderr.startswith(
        "burnish: BURNISH_PTXAS=/no/ptxas is no ptxas that can be started"
    )


def test_another_make_s_job_server_is_not_promised_to_the_compiler(
    bench: Bench, fake: Fake
) -> None:
    bench.acf("k.acf", *both(), strict=True)
    assert bench.burnish("--apply-controls=k.acf", *ARGV, "-v", "-jobserver").returncode == 0
    assert "--verbose" in fake.calls()[0]
    assert "jobserver" not in fake.calls()[0]


def test_an_error_of_our_own_does_not_break_a_build(bench: Bench, fake: Fake) -> None:
    bench.acf("k.acf", *both(HERE))
    start = (
        f"import sys\nsys.path.append({str(SOURCE)!r})\n"
        "from burnish.apply import job, ptxas\n"
        "def choose(*args): raise ZeroDivisionError('oh')\n"
        "job.choose = choose\n"
        "sys.exit(ptxas.main(sys.argv[1:]))\n"
    )
    argv = [sys.executable, "-I", "-S", "-c", start, "--apply-controls=k.acf", *ARGV]
    [line] = was_plain(bench, fake, bench.run(*argv))
    assert "an error of Burnish itself (ZeroDivisionError('oh'))" in line
    assert bench.run(*argv, BURNISH_STRICT="1").returncode == 1


@pytest.mark.parametrize("times", [1, 50])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_an_ended_build_leaves_nothing(
    bench: Bench, fake: Fake, number: signal.Signals, times: int
) -> None:
    bench.acf("k.acf", *both(HERE))
    fake.when("burnish.0.ptx", hang())
    start = (
        f"import sys\nsys.path.append({str(SOURCE)!r})\n"
        "from burnish.apply import ptxas\nsys.exit(ptxas.main(sys.argv[1:]))\n"
    )
    argv = [sys.executable, "-I", "-S", "-c", start, "--apply-controls=k.acf", *ARGV]
    with subprocess.Popen(argv, cwd=bench.folder, env=bench.environment) as running:
        while not alive(fake) and running.poll() is None:
            time.sleep(0.02)
        for _ in range(times):
            running.send_signal(number)
            time.sleep(0.002)
        assert running.wait(20) == 128 + number
    assert wait_for(lambda: not alive(fake))
    assert bench.leftovers() == []
    assert not (bench.folder / "k.cubin").exists()
