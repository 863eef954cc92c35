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


@pytest.mark.parametrize(
    ("address", "proxies", "lacks"),
    [
        ("https://sign.example.com", "", True),
        ("https://10.1.2.3", "", True),
        ("https://sign.example.com", "127.0.0.1", False),
        ("https://localhost:8443", "", False),
        ("http://10.1.2.3", "", False),
        ("", "", False),
    ],
)
def test_a_public_address_wants_a_proxy(
    monkeypatch: pytest.MonkeyPatch, address: str, proxies: str, lacks: bool
) -> None:
    monkeypatch.setenv("PARAPH_BASE_URL", address)
    monkeypatch.setenv("PARAPH_TRUSTED_PROXIES", proxies)
    assert ("docs/proxies.md" in read_settings().lacks_proxy) == lacks


def test_every_mistake_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ({"PORT": "99999", "WEB_THREADS": "many"}, {"SMTP_ULR": "1", "SEAL_LEVL": "1"}):
        with monkeypatch.context() as patch:
            for name, value in wrong.items():
                patch.setenv(f"PARAPH_{name}", value)
            with pytest.raises(DomainError) as refusal:
                read_settings()
        assert refusal.value.code == "configuration"
        assert all(f"PARAPH_{name}" in refusal.value.message for name in wrong)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://paraph:secret@db.example.com/paraph",
        "postgres://paraph@DB.example.com:5433/paraph?sslmode=verify-full&sslrootcert=/etc/root.crt",
        "postgresql://paraph:p%40ss%2Fw%25rd@[::1]:5432/paraph",
        "postgresql:///paraph?host=/run/postgresql",
        "postgresql://paraph@/paraph?host=a.example,b.example&port=5432,5433&target_session_attrs=read-write",
    ],
)
def test_addresses_of_databases(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("DATABASE_URL", address)
    assert read_settings().database_url == address


NO_ADDRESSES = """
    nonsense db.example.com/paraph mysql://paraph:secret@db.example.com/paraph sqlite://:memory:
    postgresql://paraph:secret@db.example.com postgresql://paraph:secret@db.example.com/
    postgresql://paraph:secret@db.example.com:port/paraph postgresql://paraph:secret@db.example.com:99999/paraph
    postgresql://paraph:secret@one.example:1,two.example:2/paraph postgresql://paraph:sec@ret@db.example.com/paraph
    postgresql://paraph:sec/ret@db.example.com/paraph postgresql://paraph:sec#ret@db.example.com/paraph
    postgresql://paraph:sec?ret@db.example.com/paraph postgresql://paraph:sec%ret@db.example.com/paraph
    postgresql://paraph:secret@[::1/paraph postgresql://paraph:secret@db.example.com/paraph?nonsense=1
    postgresql://paraph:secret@db.example.com/paraph?host=other.example.com
"""


@pytest.mark.parametrize("address", ["host=db.example.com dbname=paraph", *NO_ADDRESSES.split()])
def test_an_address_that_is_none_gets_a_sentence_without_the_password(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", address)
    with pytest.raises(DomainError) as refusal:
        read_settings()
    assert refusal.value.code == "configuration"
    assert refusal.value.message.startswith(
        "The environment has mistakes: DATABASE_URL: must be postgresql://[user[:password]@]host[:port]/database, with "
    )
    assert "sec" not in refusal.value.message.removeprefix("The environment").replace("several hosts", "")
