"""Commands that cannot be: one line says what is wrong, and nothing that was there is harmed."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from burnish.acf.atomic import write_whole
from burnish.acf.read import load
from burnish.acf.shelf import Shelf
from burnish.bundle.launch import read_launch
from burnish.cli import studies
from burnish.cli.app import run
from burnish.cli.screen import OUT, write_json
from burnish.cli.show import show
from burnish.errors import BurnishError, KernelError, LaunchError, UsageError
from burnish.model.frozen import FrozenMap
from burnish.model.objective import Limit
from burnish.model.space import Space
from burnish.spaces.kernel import read_text
from burnish.spaces.request import Request
from burnish.store.store import open_store
from burnish.store.study import Study
from burnish.toolchain.options import normal_form
from burnish.tuning.artefact import check_outputs
from burnish.tuning.start import starting_configs
from burnish.tuning.study import stoppable
from burnish.tuning.task import Task


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BURNISH_STORE", f"sqlite:///{tmp_path}/studies.sqlite")
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def only_line(capsys: pytest.CaptureFixture[str]) -> str:
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def test_a_device_is_written_to_and_stays_a_device(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(tmp_path / "pipe", b"data")
        assert os.read(reader, 10) == b"data"
        write_json(tmp_path / "pipe", {"a": 1})
        assert os.read(reader, 100) == b'{\n  "a": 1\n}\n'
    finally:
        os.close(reader)
    assert (tmp_path / "pipe").is_fifo()
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


def test_json_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="folder: cannot be written"):
        write_json(tmp_path / "folder", {})
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


def test_json_has_the_permissions_of_any_file(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {})
    (tmp_path / "plain").touch()
    assert (tmp_path / "a.json").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_fault_of_ours_is_one_line_that_names_the_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(studies, "load", broken)
    assert run(["studies"]) == 1
    line = only_line(capsys)
    assert "ZeroDivisionError: of all things" in line
    assert "test_odd_commands.py:" in line
    assert "report" in line


def test_a_stop_before_there_is_anything_to_keep_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(studies, "load", stopped)
    assert run(["studies"]) == 130
    assert only_line(capsys) == "burnish: stopped; nothing was kept"


def test_a_stop_while_results_are_confirmed_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = FrozenMap({"kernel": "k"})
    with open_store("sqlite://") as store:
        store.create(Study(name="s", kernel="k.ptx", objective="runtime", inputs=inputs))

        def confirming(*_task: object, **_more: object) -> None:
            with stoppable("s", store):
                raise KeyboardInterrupt

        words = ["tune", "k.ptx", "--", "-O3"]
        monkeypatch.setattr("burnish.cli.tune.run", confirming)
        monkeypatch.setattr("sys.argv", ["burnish", *words])
        assert run(words) == 130
        assert [study.status for study in store.studies()] == ["interrupted"]
    line = only_line(capsys)
    assert line.endswith("To go on: burnish tune k.ptx --study s --resume -- -O3")


def test_a_path_that_is_too_long_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tune", "x" * 5000 + ".ptx", "--device", "none", "--minimize", "registers"]
    assert run(words) == 1
    assert "File name too long" in only_line(capsys)


def test_what_is_written_may_not_be_what_is_read(tmp_path: Path) -> None:
    kernel, launch = tmp_path / "k.ptx", tmp_path / "k.toml"
    kernel.write_text("kernel")
    launch.write_text("launch")
    (tmp_path / "link.acf").symlink_to(kernel)
    for output in (kernel, launch, tmp_path / "link.acf", tmp_path / "." / "k.ptx"):
        with pytest.raises(UsageError, match=r"is what is read"):
            check_outputs(Task(kernel=kernel, launch=launch, output=output))
    assert kernel.read_text() == "kernel"


def test_an_output_that_cannot_be_named_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        check_outputs(Task(kernel=tmp_path / "k.ptx", output=tmp_path / ("x" * 300)))


def test_a_limit_on_what_is_never_measured_is_refused(tmp_path: Path) -> None:
    task = Task(
        kernel=tmp_path / "k.ptx",
        device="none",
        minimize=("registers",),
        limits=(Limit("runtime", 5.0),),
    )
    with pytest.raises(UsageError, match=r"--limit runtime.*needs a device"):
        _ = task.objective


def test_more_jobs_than_any_machine_has_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--jobs: 100000 is above"):
        Task(kernel=tmp_path / "k.ptx", jobs=100_000)


def test_an_elf_file_without_code_for_a_gpu_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cut.cubin").write_bytes(b"\x7fELF\x02\x01\x01")
    assert run(["show", "cut.cubin"]) == 1
    assert only_line(capsys).startswith("burnish: cut.cubin: ")
    assert run(["show", os.path.realpath("/bin/sh")]) == 1
    assert "holds no code for a GPU" in only_line(capsys)


def test_a_number_that_python_does_not_read_is_left_to_the_compiler() -> None:
    digits = "9" * 5000
    assert normal_form([f"--maxrregcount={digits}"]).options == (f"--maxrregcount={digits}",)


def test_a_pipe_on_a_shelf_is_as_good_as_no_file(tmp_path: Path) -> None:
    (tmp_path / "shelf").mkdir()
    os.mkfifo(tmp_path / "shelf" / "a.acf")
    assert Shelf(tmp_path / "shelf", print).about("k") == ()
    assert len(Shelf(tmp_path / "shelf", print).digest()) == 64


ARGUMENT = 'entry = "k"\n[[workload]]\nname = "w"\narguments = [{ name = "x", %s }]\n'
READERS: dict[str, Callable[[Path], object]] = {
    "launch": read_launch,
    "acf": load,
    "kernel": read_text,
    "array": lambda pipe: read_launch(
        written(pipe, 'buffer = "f32", shape = [4], fill = "file(pipe)"')
    ),
    "bytes": lambda pipe: read_launch(written(pipe, 'bytes = "file(pipe)"')),
    "start": lambda pipe: starting_configs([pipe], "k", Space(())),
    "show": show,
}


def written(pipe: Path, argument: str) -> Path:
    launch = pipe.with_name("k.toml")
    launch.write_text(ARGUMENT % argument)
    return launch


@pytest.fixture
def _awake() -> Iterator[None]:
    """What waits for somebody to write is woken."""

    def wake(_number: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, wake)
    signal.setitimer(signal.ITIMER_REAL, 5)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("_awake")
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_regular_file_is_refused_unread(
    tmp_path: Path, read: Callable[[Path], object], make: Callable[[Path], None]
) -> None:
    make(tmp_path / "pipe")
    with pytest.raises(BurnishError, match=r"pipe:? is no regular file"):
        read(tmp_path / "pipe")


def test_a_source_in_another_encoding_is_told_from_a_binary(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_bytes(b"int n;\n/* \xe9t\xe9 */\n")
    with pytest.raises(KernelError, match=r"k\.c:2: the byte 0xe9 is no UTF-8; convert it"):
        read_text(tmp_path / "k.c")
    (tmp_path / "k.c").write_bytes(b"\x7fELF\xe9\0")
    with pytest.raises(KernelError, match="not text; a cubin or fatbin"):
        read_text(tmp_path / "k.c")


def test_a_pipe_among_opaque_files_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.acf")
    with pytest.raises(UsageError, match=r"a\.acf: is no regular file"):
        Request.opaque_in(tmp_path)


@pytest.mark.parametrize("value", ["[" * 100_000, "{a=" * 100_000, "9" * 5_000])
def test_a_launch_file_that_no_reader_takes_is_one_error(tmp_path: Path, value: str) -> None:
    (tmp_path / "k.toml").write_text(f"entry = {value}\n")
    with pytest.raises(LaunchError, match=r"k\.toml"):
        read_launch(tmp_path / "k.toml")


def test_what_a_file_says_is_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    OUT.print("wrote a[/bold][red].acf")
    assert capsys.readouterr().out == "wrote a[/bold][red].acf\n"
