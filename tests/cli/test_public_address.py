"""A service at a public address starts behind a proxy alone."""

from pathlib import Path

import pytest

from tests.cli import forked
from tests.cli.service import clean_environment


@pytest.mark.parametrize("command", ["serve", "web"])
def test_without_a_proxy_it_does_not_start_and_says_what_to_do(command: str, tmp_path: Path) -> None:
    environment = clean_environment(tmp_path / "data", PARAPH_BASE_URL="https://sign.example.com")
    done = forked.run("paraph", command, environment=environment)
    assert done.returncode == 1
    for word in ("https://sign.example.com", "docs/proxies.md", "PARAPH_TRUSTED_PROXIES=127.0.0.1"):
        assert word in done.stderr
