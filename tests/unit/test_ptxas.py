import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.helpers import fake_ptxas

from burnish.errors import ToolchainError
from burnish.model.code import Code
from burnish.model.trial import Status
from burnish.toolchain.folder import own_folder
from burnish.toolchain.process import Limits
from burnish.toolchain.ptxas import Assembled, Refusal, assemble

PTX = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"
CODE = Code("ptxas 13.5.37", ("--maxrregcount=32",))
PRINTED = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
    256 bytes stack frame, 252 bytes spill stores, 248 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 256 bytes cumulative stack size
ptxas info    : Compile time = 3.462 ms
ptxas info    : (C7510) Potential Performance Loss: serialized in function 'first'
ptxas info    : Function properties for _Z6secondPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
"""


@pytest.fixture
def fake(tmp_path: Path) -> fake_ptxas.Fake:
    return fake_ptxas.install(tmp_path / "fake")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def refusal(fake: fake_ptxas.Fake, folder: Path, limits: Limits | None = None) -> Refusal:
    outcome = assemble(fake.tool, PTX, CODE, "sm_90", folder=folder, limits=limits or Limits())
    assert isinstance(outcome, Refusal)
    assert "\n" not in outcome.message
    assert not fake_ptxas.alive(fake)
    assert list(folder.iterdir()) == []
    return outcome


def test_a_cubin_comes_with_what_was_printed(fake: fake_ptxas.Fake, folder: Path) -> None:
    (fake.folder / "printed").write_text(PRINTED)
    fake.always('cat "$here/printed" >&2; cp "$here/cubin" "$out"')
    made = assemble(fake.tool, PTX, CODE, "sm_90a", folder=folder)
    assert isinstance(made, Assembled)
    assert made.cubin == fake_ptxas.CUBIN
    assert made.spills == {"first": 500, "_Z6secondPf": 0}
    assert made.advisories == (
        "(C7510) Potential Performance Loss: serialized in function 'first'",
    )
    assert "Compile time" not in made.messages
    assert made.messages.count("\n") == PRINTED.count("\n") - 1
    assert list(folder.iterdir()) == []


def test_the_command_line_never_names_the_folder(fake: fake_ptxas.Fake, folder: Path) -> None:
    assemble(fake.tool, PTX, CODE, "sm_90a", folder=folder)
    expected = "--gpu-name=sm_90a --maxrregcount=32 --verbose --output-file kernel.cubin kernel.ptx"
    assert fake.calls() == [expected]


def test_the_text_arrives_as_it_is(fake: fake_ptxas.Fake, folder: Path, tmp_path: Path) -> None:
    fake.always(f'cp kernel.ptx \'{tmp_path}/seen\'; cp "$here/cubin" "$out"')
    text = PTX + "// Grüße, \udcff\r\n"
    assemble(fake.tool, text, CODE, "sm_90a", folder=folder)
    assert (tmp_path / "seen").read_bytes() == text.encode("utf-8", "surrogateescape")


def test_controls_of_nvidia_are_passed_as_a_file(fake: fake_ptxas.Fake, folder: Path) -> None:
    fake.always('grep -q \'^opaque$\' controls.acf && cp "$here/cubin" "$out"')
    code = Code("ptxas 13.5.37", (), opaque=b"opaque\n")
    made = assemble(fake.tool, PTX, code, "sm_90a", folder=folder)
    assert isinstance(made, Assembled)
    assert "--apply-controls=controls.acf" in fake.calls()[0]


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("ptxas fatal   : Unknown option 'x'", "Unknown option 'x'"),
        (
            "ptxas kernel.ptx, line 4; error   : Unknown symbol '%r9'\nptxas error   : Another",
            "line 4: Unknown symbol '%r9'",
        ),
        (
            "ptxas warning : Something\nptxas error   : (C7602) Insufficient registers for 'k'",
            "(C7602) Insufficient registers for 'k'",
        ),
        ("Some other words\nmore", "Some other words"),
        ("", "exit code 255, without a word"),
    ],
)
def test_a_refusal_says_the_first_thing_that_matters(
    fake: fake_ptxas.Fake, folder: Path, printed: str, message: str
) -> None:
    (fake.folder / "printed").write_text(printed)
    fake.always('cat "$here/printed" >&2; exit 255')
    assert refusal(fake, folder) == Refusal(Status.REFUSED, message)


def test_a_message_has_a_bound(fake: fake_ptxas.Fake, folder: Path) -> None:
    fake.always(fake_ptxas.refuse("x" * 5000))
    assert len(refusal(fake, folder).message) == 2000


BEHAVIOURS = {
    "hangs": (fake_ptxas.hang(), Status.COMPILE_TIMEOUT, "no end after 0.5 s"),
    "hangs with a child": (
        fake_ptxas.leave_child(parent=fake_ptxas.hang()),
        Status.COMPILE_TIMEOUT,
        "no end",
    ),
    "hangs with an escaped child": (
        fake_ptxas.leave_child("setsid sleep", parent=fake_ptxas.hang()),
        Status.COMPILE_TIMEOUT,
        "no end",
    ),
    "leaves a child and fails": (
        fake_ptxas.leave_child("setsid sleep", parent="exit 3"),
        Status.REFUSED,
        "exit code 3",
    ),
    "prints 1 GB": (fake_ptxas.flood(), Status.COMPILE_CRASH, "printed more than 1048576 bytes"),
    "crashes": (fake_ptxas.crash("SEGV"), Status.COMPILE_CRASH, "ended by SIGSEGV"),
    "is out of memory": (
        "echo 'what():  std::bad_alloc' >&2; " + fake_ptxas.crash("ABRT"),
        Status.COMPILE_CRASH,
        "ended by SIGABRT: what():  std::bad_alloc",
    ),
    "dies half-written": (
        fake_ptxas.write_half(then="kill -9 $$"),
        Status.COMPILE_CRASH,
        "ended by SIGKILL",
    ),
    "writes half and says it is fine": (
        fake_ptxas.write_half(),
        Status.COMPILE_CRASH,
        "half an output: 40 bytes",
    ),
    "writes all but a byte": (
        fake_ptxas.write_half(127),
        Status.COMPILE_CRASH,
        "half an output: 127 bytes",
    ),
    "writes nothing and says it is fine": ("exit 0", Status.COMPILE_CRASH, "half an output: 0"),
    "writes a folder": ('mkdir "$out"; touch "$out/x"', Status.COMPILE_CRASH, "half an output"),
    "writes other files": (
        fake_ptxas.refuse("no").replace("echo", "mkdir a; touch a/b c; ln -s / d; echo", 1),
        Status.REFUSED,
        "no",
    ),
    "cannot write": (
        fake_ptxas.refuse("Failed to write to outp file kernel.cubin"),
        Status.COMPILE_CRASH,
        "Failed to write",
    ),
}


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_whatever_it_does_is_a_refusal_and_nothing_is_left(
    fake: fake_ptxas.Fake, folder: Path, name: str
) -> None:
    behaviour, status, message = BEHAVIOURS[name]
    fake.always(behaviour)
    limits = Limits(wall_s=0.5 if status is Status.COMPILE_TIMEOUT else 60.0)
    outcome = refusal(fake, folder, limits)
    assert outcome.status is status
    assert message in outcome.message


def test_a_child_that_hangs_does_not_spoil_a_good_cubin(
    fake: fake_ptxas.Fake, folder: Path
) -> None:
    fake.always(f'cp "$here/cubin" "$out"; {fake_ptxas.leave_child("setsid sleep")}')
    made = assemble(fake.tool, PTX, CODE, "sm_90", folder=folder)
    assert isinstance(made, Assembled)
    assert made.wall_ms < 3000
    assert not fake_ptxas.alive(fake)


def test_a_ptxas_that_is_gone_is_a_crash(fake: fake_ptxas.Fake, folder: Path) -> None:
    fake.tool.path.unlink()
    outcome = refusal(fake, folder)
    assert outcome.status is Status.COMPILE_CRASH
    assert "could not be started" in outcome.message


TOO_NEW = (
    "case $(head -1 kernel.ptx) in *9.0*|*8.8*) "
    'echo "ptxas kernel.ptx, line 1; fatal   : Unsupported .version 9.0; '
    "current version is '8.4'\" >&2; exit 255;; esac; "
)


def test_newer_ptx_is_lowered_and_the_limit_is_learnt(fake: fake_ptxas.Fake, folder: Path) -> None:
    fake.always(TOO_NEW + 'cp "$here/cubin" "$out"')
    for calls in (2, 3):
        made = assemble(fake.tool, PTX, CODE, "sm_90", folder=folder)
        assert isinstance(made, Assembled)
        assert len(fake.calls()) == calls


def test_lowered_ptx_that_is_still_refused_says_both(fake: fake_ptxas.Fake, folder: Path) -> None:
    fake.always(TOO_NEW + fake_ptxas.refuse("Feature needs PTX ISA 9.0"))
    expected = "Feature needs PTX ISA 9.0 (PTX version lowered for ptxas 13.5.37)"
    assert refusal(fake, folder) == Refusal(Status.REFUSED, expected)


def test_older_ptx_stays_as_it_is(fake: fake_ptxas.Fake, folder: Path, tmp_path: Path) -> None:
    fake.always(TOO_NEW + f'cp kernel.ptx \'{tmp_path}/seen\'; cp "$here/cubin" "$out"')
    assemble(fake.tool, PTX, CODE, "sm_90", folder=folder)
    older = PTX.replace("9.0", "7.8")
    assemble(fake.tool, older, CODE, "sm_90", folder=folder)
    assert (tmp_path / "seen").read_text() == older


def test_a_missing_folder_is_made(fake: fake_ptxas.Fake, tmp_path: Path) -> None:
    made = assemble(fake.tool, PTX, CODE, "sm_90", folder=tmp_path / "a" / "b")
    assert isinstance(made, Assembled)


def test_a_folder_that_cannot_be_written_is_an_error(fake: fake_ptxas.Fake, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolchainError, match="Not a directory; compiling needs a folder"):
        assemble(fake.tool, PTX, CODE, "sm_90", folder=tmp_path / "file")


def test_a_full_disk_is_an_error(
    fake: fake_ptxas.Fake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.statvfs(folder)
    full = os.statvfs_result((*real[:4], 0, *real[5:10]))
    monkeypatch.setattr(os, "statvfs", lambda _path: full)
    fake.always(fake_ptxas.write_half(0))
    with pytest.raises(ToolchainError, match="no space left on its disk"):
        assemble(fake.tool, PTX, CODE, "sm_90", folder=folder)
    assert list(folder.iterdir()) == []


def test_each_call_has_a_folder_of_its_own_that_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    with own_folder(tmp_path / "new" / "place", parents=True) as one, own_folder(one.parent) as two:
        assert one.parent == two.parent == tmp_path / "new" / "place"
        assert one != two
        assert one.stat().st_mode & 0o777 == 0o700
        (one / "inner").mkdir()
        (one / "inner" / "kernel.cubin").write_bytes(b"old")
        (one / "link").symlink_to(tmp_path)
    assert list((tmp_path / "new" / "place").iterdir()) == []
    with pytest.raises(FileNotFoundError), own_folder(tmp_path / "missing"):
        pass


def test_many_threads_share_a_folder(fake: fake_ptxas.Fake, folder: Path) -> None:
    fake.when("--maxrregcount=3 ", fake_ptxas.refuse("three"))
    fake.when("--maxrregcount=5 ", fake_ptxas.crash())

    def one(number: int) -> Status:
        code = Code("ptxas 13.5.37", (f"--maxrregcount={number % 7}",))
        made = assemble(fake.tool, PTX, code, "sm_90", folder=folder)
        return made.status if isinstance(made, Refusal) else Status.OK

    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(one, range(42)))
    wanted = {3: Status.REFUSED, 5: Status.COMPILE_CRASH}
    assert statuses == [wanted.get(number % 7, Status.OK) for number in range(42)]
    assert list(folder.iterdir()) == []
