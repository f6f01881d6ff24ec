from pathlib import Path

import pytest

from burnish.bundle.init import template
from burnish.bundle.launch import read_launch
from burnish.bundle.parameters import Parameter, c_parameters, check_arguments, ptx_parameter
from burnish.errors import LaunchError
from burnish.model.workload import Argument, Buffer, Bytes, Scalar

SOURCE = """
#include <stddef.h>
static float helper(float x);  /* spmv( */
// void spmv(int wrong);
static struct node { int a; } z;
extern "C" __global__ void __launch_bounds__(256) spmv(
    const int *__restrict__ rp, const uint32_t* ci, float const v[], unsigned long long n,
    float *restrict y, float (*tile)[16], struct node by_value, const double alpha, bool flip) {
  if (n) return spmv_helper(y);
}
void unnamed(const float *, int, size_t);
void nothing(void);
void caller(void) { other(1); }
"""


def test_a_c_functions_parameters_are_read() -> None:
    assert c_parameters(SOURCE, "spmv") == (
        Parameter("rp", "pointer", 8, "i32", is_const=True),
        Parameter("ci", "pointer", 8, "u32", is_const=True),
        Parameter("v", "pointer", 8, "f32", is_const=True),
        Parameter("n", "scalar", 8, "u64"),
        Parameter("y", "pointer", 8, "f32"),
        Parameter("tile", "pointer", 8, "f32"),
        Parameter("by_value", "unknown", 0),
        Parameter("alpha", "scalar", 8, "f64"),
        Parameter("flip", "scalar", 1, "bool"),
    )


def test_prototypes_need_no_names_and_may_be_empty() -> None:
    assert [one.dtype for one in c_parameters(SOURCE, "unnamed")] == ["f32", "i32", "u64"]
    assert c_parameters(SOURCE, "nothing") == ()


TYPEDEFS = """
typedef float real; typedef const real *input; typedef unsigned long int word;
typedef unsigned short half; typedef struct { float x, y; } pair; typedef real row[4];
void k(real a, real *b, input c, word d, half *e, pair *f, long int unsigned *g, real **h,
       real *i[2], real j[][4], input *l, short int m, pair n, row *o);
"""


def test_typedefs_and_words_in_any_order_are_understood() -> None:
    read = [(one.kind, one.dtype) for one in c_parameters(TYPEDEFS, "k")]
    assert read == [
        ("scalar", "f32"),
        ("pointer", "f32"),
        ("pointer", "f32"),
        ("scalar", "u64"),
        ("pointer", "u16"),
        ("pointer", ""),
        ("pointer", "u64"),
        ("pointer", ""),
        ("pointer", ""),
        ("pointer", "f32"),
        ("pointer", ""),
        ("scalar", "i16"),
        ("unknown", ""),
        ("pointer", ""),
    ]


def pointer(dtype: str) -> Parameter:
    return Parameter("x", "pointer", 8, dtype)


def buffer(dtype: str) -> Buffer:
    return Buffer("x", dtype, (4,))


@pytest.mark.parametrize(
    ("given", "declared"),
    [("f32", ""), ("u32", "i32"), ("f64", "u8"), ("f32", "i8"), ("bf16", "u16"), ("f8e5m2", "u8")],
)
def test_a_buffer_may_be_what_its_pointer_is_declared_to_hold(given: str, declared: str) -> None:
    check_arguments([buffer(given)], [pointer(declared)])


@pytest.mark.parametrize(
    ("given", "declared"),
    [
        ("f64", "f32"),
        ("f32", "f64"),
        ("i32", "f32"),
        ("f32", "i32"),
        ("i32", "i64"),
        ("f16", "bf16"),
        ("u8", "bool"),
        ("u8", "i32"),
        ("f16", "u32"),
    ],
)
def test_a_buffer_of_another_type_than_is_declared_is_refused_by_name(
    given: str, declared: str
) -> None:
    with pytest.raises(LaunchError) as caught:
        check_arguments([buffer(given)], [pointer(declared)])
    assert str(caught.value) == (
        f'argument 0 "x": parameter "x" needs a buffer of {declared} (or a 64-bit number such as 0 '
        f"for none), not a buffer of {given}"
    )


@pytest.mark.parametrize("name", ["missing", "other", "spmv_helper"])
def test_a_function_that_is_not_declared_is_not_found(name: str) -> None:
    with pytest.raises(LaunchError, match=f"no function '{name}'"):
        c_parameters(SOURCE, name)


@pytest.mark.parametrize(
    ("kind", "size", "expected"),
    [
        (".u64", 8, Parameter("p", "word", 8)),
        (".u32", 4, Parameter("p", "scalar", 4, "u32")),
        (".s32", 4, Parameter("p", "scalar", 4, "i32")),
        (".f32", 4, Parameter("p", "scalar", 4, "f32")),
        (".f64", 8, Parameter("p", "scalar", 8, "f64")),
        (".u16", 2, Parameter("p", "bits", 2)),
        (".u8", 1, Parameter("p", "bits", 1)),
        (".b8", 128, Parameter("p", "struct", 128)),
        (".b8", 8, Parameter("p", "struct", 8)),
    ],
)
def test_a_parameter_of_ptx_is_understood(kind: str, size: int, expected: Parameter) -> None:
    assert ptx_parameter("p", kind, size) == expected


POINTER = Parameter("x", "pointer", 8, "f32")
BUFFER = Buffer("x", "f32", (4,))


@pytest.mark.parametrize(
    ("argument", "parameter"),
    [
        (BUFFER, POINTER),
        (BUFFER, Parameter("x", "word", 8)),
        (Scalar("x", "u64", 0), POINTER),
        (Scalar("x", "i64", 0), Parameter("x", "word", 8)),
        (Scalar("n", "i32", 1), Parameter("n", "scalar", 4, "u32")),
        (Scalar("n", "bf16", 1.0), Parameter("n", "bits", 2)),
        (Scalar("n", "f32", 1.0), Parameter("n", "scalar", 4, "f32")),
        (Bytes("s", bytes(24)), Parameter("s", "struct", 24)),
        (Bytes("s", bytes(24)), Parameter("s", "unknown", 0)),
    ],
)
def test_arguments_that_fit_pass(argument: Argument, parameter: Parameter) -> None:
    check_arguments([argument], [parameter])


@pytest.mark.parametrize(
    ("argument", "parameter", "why"),
    [
        (BUFFER, Parameter("n", "scalar", 4, "i32"), "needs a scalar of i32, not a buffer of f32"),
        (
            Scalar("n", "f32", 1.0),
            Parameter("n", "scalar", 4, "i32"),
            'parameter "n" needs a scalar of i32, not a scalar of f32',
        ),
        (Scalar("n", "i32", 1), Parameter("n", "scalar", 4, "f32"), "needs a scalar of f32"),
        (Scalar("n", "i64", 1), Parameter("n", "scalar", 4, "u32"), "needs a scalar of u32"),
        (Scalar("n", "i32", 1), POINTER, "needs a buffer of f32"),
        (Scalar("n", "f64", 1.0), POINTER, "needs a buffer of f32"),
        (Scalar("n", "i32", 1), Parameter("", "word", 8), "parameter needs a buffer or a 64-bit"),
        (Bytes("s", bytes(24)), Parameter("s", "struct", 32), "32 bytes in all, not 24 bytes"),
        (Scalar("n", "f32", 1.0), Parameter("n", "bits", 2), "needs a scalar of 2 bytes"),
    ],
)
def test_arguments_that_do_not_fit_are_named_by_position(
    argument: Argument, parameter: Parameter, why: str
) -> None:
    with pytest.raises(LaunchError) as caught:
        check_arguments(
            [Scalar("n", "i32", 1), argument], [ptx_parameter("n", ".u32", 4), parameter]
        )
    assert str(caught.value).startswith(f'argument 1 "{argument.name}": ')
    assert why in str(caught.value)


def test_a_wrong_count_names_the_parameters() -> None:
    with pytest.raises(LaunchError, match=r"2 parameters \(x, n\) .* gives 1 arguments"):
        check_arguments([BUFFER], [POINTER, ptx_parameter("n", ".u32", 4)])


def test_the_template_is_a_launch_file_once_its_blanks_are_filled(tmp_path: Path) -> None:
    parameters = [
        *c_parameters(SOURCE, "spmv"),
        ptx_parameter("spmv_param_9", ".u64", 8),
        ptx_parameter("spmv_param_10", ".b8", 24),
        ptx_parameter("spmv_param_11", ".u16", 2),
    ]
    path = tmp_path / "spmv.toml"
    text = template("spmv", parameters, has_grid=True)
    path.write_text(text)
    with pytest.raises(LaunchError, match="a blank is still to be filled in"):
        read_launch(path)
    for blank, value in (
        ("struct = [ ? ]", "struct = [ { scalar = 'i32', value = [1, 2, 3, 4, 5, 6] } ]"),
        ("fill = ?", 'fill = "zeros"'),
        ("buffer = ?", 'buffer = "f32"'),
        ("role = ?", 'role = "out"'),
        ("scalar = ?", 'scalar = "i16"'),
        ('dtype = "bool", value = ?', "x"),
        ('"bool", value = ?', '"bool", value = true'),
        ("[?", "[1"),
        ("= ?", "= 1"),
    ):
        text = text.replace(blank, value)
    path.write_text(text)
    launch = read_launch(path)
    assert launch.entry == "spmv"
    check_arguments(launch.workloads[0].arguments, parameters)


def test_a_c_function_for_the_host_gets_no_grid() -> None:
    assert "\ngrid" not in template("nothing", (), has_grid=False)
    assert "\ngrid" in template("nothing", (), has_grid=True)
