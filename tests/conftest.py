"""What all tests share: `--require MARKER` turns a skip of such a test into a failure."""

from collections.abc import Generator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require",
        action="append",
        default=[],
        metavar="MARKER",
        help="a skipped test with this marker fails",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    required = set(item.config.getoption("--require"))
    marks = {mark.name for mark in item.iter_markers()}
    if report.skipped and not hasattr(report, "wasxfail") and required & marks:
        report.outcome = "failed"
        report.longrepr = f"required by --require, but skipped: {report.longrepr}"
    return report
