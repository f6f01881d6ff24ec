from burnish.model.workload import Buffer, Role, Workload
from burnish.verify.regions import regions

ROOT = Buffer("mem", "u8", (64,), Role.OUT)


def cut(*buffers: Buffer) -> list[tuple[str, str, int, int]]:
    return [
        (one.buffer.name, one.kind.name, one.start, one.stop)
        for one in regions(Workload("w", buffers))
    ]


def test_buffers_that_are_only_read_are_no_regions() -> None:
    assert cut(Buffer("x", "f32", (4,))) == []


def test_a_buffer_is_one_region() -> None:
    assert cut(Buffer("x", "f32", (4, 3), Role.OUT)) == [("x", "f32", 0, 48)]


def test_a_view_of_the_same_type_is_part_of_its_buffer() -> None:
    x = Buffer("x", "f32", (16,), Role.INOUT, "normal")
    assert cut(x, Buffer("v", "f32", (4,), Role.OUT, view_of="x", offset=4)) == [
        ("x", "f32", 0, 64)
    ]


def test_a_view_of_another_type_is_judged_as_that_type() -> None:
    view = Buffer("v", "f32", (4,), Role.OUT, view_of="mem", offset=2)
    assert cut(ROOT, view) == [("mem", "u8", 0, 8), ("mem", "u8", 24, 64), ("v", "f32", 8, 24)]


def test_a_written_view_makes_its_buffer_written() -> None:
    x = Buffer("x", "f32", (16,), Role.IN, "normal")
    assert cut(x, Buffer("v", "f32", (16,), Role.OUT, view_of="x")) == [("x", "f32", 0, 64)]


def test_what_a_cut_through_an_element_leaves_is_judged_as_bytes() -> None:
    x = Buffer("x", "f32", (4,), Role.OUT)
    view = Buffer("v", "u8", (4,), Role.OUT, view_of="x", offset=2)
    assert cut(x, view) == [("x", "u8", 0, 2), ("x", "u8", 6, 16), ("v", "u8", 2, 6)]


def test_elements_of_a_cut_buffer_keep_their_indices() -> None:
    x = Buffer("x", "f32", (4, 4), Role.OUT)
    view = Buffer("v", "i32", (4,), Role.OUT, view_of="x", offset=4)
    last = regions(Workload("w", (x, view)))[1]
    assert (last.first, last.count) == (8, 8)
    assert last.where(1) == "at [2, 1]"
