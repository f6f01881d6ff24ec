import pytest

from burnish.model.names import Binding, actual, bind, has_placeholder, neutral

NVCC = "_ZN30_INTERNAL_5508cc29_4_a_cu_gptr32_GLOBAL__N__5508cc29_4_a_cu_gptr6helperEfi"
RDC = "__nv_static_21__5508cc29_4_a_cu_gptr__Z4statPf"
OTHER_NVCC = "_ZN33_INTERNAL_381e3787_7_long_cu_gptr35_GLOBAL__N__381e3787_7_long_cu_gptr6helperEfi"
OTHER_RDC = "__nv_static_24__381e3787_7_long_cu_gptr__Z4statPf"


def plain(text: str) -> str:
    return neutral(text, bind(text))


@pytest.mark.parametrize(
    ("name", "form"),
    [
        (NVCC, "_ZN_INTERNAL$file0$_GLOBAL__N_$file0$6helperEfi"),
        (RDC, "__nv_static_$file0$__Z4statPf"),
        ("__nv_static_19__af18533d_4_s_cu_ec_sv", "__nv_static_$file0$_sv"),
        ("_ZL1x__static__9ca5a1e5b7", "_ZL1x__static__$file0$"),
        ("_ZL1kv__intern__9ca5a1e5b7", "_ZL1kv__intern__$file0$"),
        ("[$str$12], __unnamed_3, $str", "[$text0$], $text1$, $text2$"),
        ("_$_str_$_1 _$_str", "$text0$ $text1$"),
    ],
)
def test_what_only_names_a_file_becomes_a_placeholder(name: str, form: str) -> None:
    assert plain(name) == form


@pytest.mark.parametrize(
    "name",
    [
        "_Z4statPf",
        "_ZN12_GLOBAL__N_14anonEv",
        "_ZN9_INTERNALE",
        "_ZN99_INTERNAL_5508cc29_4_a_cu_gptrE",
        "__nv_static_999__x",
        "my$str$1 x__unnamed_1 __unnamed_1x",
        "30_INTERNAL",
        "",
    ],
)
def test_any_other_name_stays(name: str) -> None:
    assert plain(name) == name


def test_digits_that_end_the_name_before_are_not_taken_for_a_length() -> None:
    name = "_ZN4foo130_INTERNAL_5508cc29_4_a_cu_gptr6helperE"
    assert plain(name) == "_ZN4foo1_INTERNAL$file0$6helperE"


def test_a_hash_that_ends_in_zero_does_not_lengthen_a_length() -> None:
    name = "_ZN34_INTERNAL_04afb6bd_4_t_cu_d589cb6036_GLOBAL__N__04afb6bd_4_t_cu_d589cb606factorE"
    assert plain(name) == "_ZN_INTERNAL$file0$_GLOBAL__N_$file0$6factorE"


def test_another_file_gives_the_same_form() -> None:
    assert plain(f"{NVCC} {RDC} {NVCC}") == plain(f"{OTHER_NVCC} {OTHER_RDC} {OTHER_NVCC}")


def test_two_files_stay_apart_and_are_numbered_by_first_appearance() -> None:
    assert plain(f"{OTHER_RDC} {RDC} {OTHER_RDC}") == (
        "__nv_static_$file0$__Z4statPf __nv_static_$file1$__Z4statPf __nv_static_$file0$__Z4statPf"
    )


@pytest.mark.parametrize("text", [NVCC, RDC, f"{NVCC} x $str$1 {OTHER_RDC} __unnamed_2"])
def test_names_come_back_as_they_were(text: str) -> None:
    binding = bind(text)
    assert actual(neutral(text, binding), binding) == text


def test_placeholders_can_be_bound_to_another_file() -> None:
    form = neutral(f"{NVCC} {RDC}", bind(NVCC))
    assert actual(form, bind(OTHER_NVCC)) == f"{OTHER_NVCC} {OTHER_RDC}"


def test_what_a_binding_does_not_know_stays() -> None:
    assert neutral(OTHER_RDC, bind(RDC)) == OTHER_RDC
    assert neutral(RDC, Binding()) == RDC


def test_a_placeholder_without_a_name_is_an_error() -> None:
    with pytest.raises(KeyError):
        actual("_INTERNAL$file1$", bind(NVCC))


def test_placeholders_are_recognised() -> None:
    assert has_placeholder(plain(NVCC))
    assert has_placeholder("$text3$")
    assert not has_placeholder(NVCC)
