"""A pytest plugin: with ``PARAPH_NO_SKIPS`` set, a run with a skipped test has failed."""

import os

import pytest


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = len(reporter.stats.get("skipped", [])) if reporter else 0
    if reporter and skipped and os.environ.get("PARAPH_NO_SKIPS"):
        reporter.write_line(f"\n{skipped} skipped, and PARAPH_NO_SKIPS is set: this run has failed.", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
