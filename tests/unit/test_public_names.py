"""The names that `burnish` offers are those that it lists, and loading one loads no other."""

import subprocess
import sys

import burnish


def test_every_public_name_loads() -> None:
    for name in burnish.__all__:
        assert getattr(burnish, name) is not None


def test_what_is_visible_is_what_is_listed() -> None:
    assert sorted(burnish.__all__) == dir(burnish)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(burnish, "no_such_name")


def test_importing_burnish_loads_nothing_else_of_it() -> None:
    code = "import sys, burnish; print([n for n in sys.modules if n.startswith('burnish.')])"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "[]"
