"""Reading the settings from the environment."""

from pathlib import Path

import pytest

from paraph.kernel import machine
from paraph.kernel.errors import DomainError
from paraph.kernel.settings import read_settings


@pytest.fixture(autouse=True)
def _no_settings_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARAPH_DATA_DIR")


def test_the_defaults_are_one_local_service() -> None:
    read = read_settings()
    assert (read.data_dir, read.public_url) == (Path("paraph-data"), "http://127.0.0.1:8000")
    assert read.processes == (machine.cores(), machine.cores())


def test_lists_are_separated_by_commas_and_empty_means_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARAPH_TIMESTAMP_AUTHORITIES", "https://a.example/tsa, built-in,")
    monkeypatch.setenv("PARAPH_TIMESTAMP_ROOTS", "")
    monkeypatch.setenv("PARAPH_PORT", "")
    read = read_settings()
    assert read.timestamp_authorities == ["https://a.example/tsa", "built-in"]
    assert (read.timestamp_roots, read.port) == (None, 8000)


def test_the_public_address_wins_over_host_and_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARAPH_HOST", "::1")
    assert read_settings().public_url == "http://[::1]:8000"
    monkeypatch.setenv("PARAPH_BASE_URL", "https://sign.example.com/")
    assert read_settings().public_url == "https://sign.example.com"


def test_every_mistake_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARAPH_PORT", "99999")
    monkeypatch.setenv("PARAPH_WEB_THREADS", "many")
    with pytest.raises(DomainError) as refusal:
        read_settings()
    assert refusal.value.code == "configuration"
    assert "PARAPH_PORT: " in refusal.value.message
    assert "PARAPH_WEB_THREADS: " in refusal.value.message
