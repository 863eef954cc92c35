"""What the environment may hold: settings, values in files, variables of other programs; and what it may not."""

import os
from pathlib import Path

import pytest

from paraph.kernel import machine
from paraph.kernel.errors import DomainError
from paraph.kernel.settings import OTHERS, Settings, read_settings, variable

SETTINGS = [variable(name) for name in Settings.model_fields]


@pytest.fixture(autouse=True)
def _no_settings_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PARAPH_")]:
        monkeypatch.delenv(name)


def refusal() -> str:
    with pytest.raises(DomainError) as refused:
        read_settings()
    assert refused.value.code == "configuration"
    return refused.value.message.removeprefix("The environment has mistakes: ")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("PARAPH_SMTP_ULR", "PARAPH_SMTP_URL"),
        ("PARAPH_TRUSTED_PROXYS", "PARAPH_TRUSTED_PROXIES"),
        ("paraph_seal_levl", "PARAPH_SEAL_LEVEL"),
        ("PARAPH_SECRET_KEY_FILES", "PARAPH_SECRET_KEY_FILE"),
        *((f"PARAPH_{name}", "") for name in ("TRUSTED_PROXY", "DATA_DIR_FILE", "CHEESE", "SMTP_PORT", "PORT_8000")),
        *((f"PARAPH_{name}", "") for name in ("SERVICE", "WEB_PORT", "PORT_8000_TCP_NAME", "SMTP_SERVICE")),
    ],
)
def test_a_name_that_is_no_setting_is_refused_with_the_one_that_may_be_meant(
    monkeypatch: pytest.MonkeyPatch, written: str, meant: str
) -> None:
    """A name that only resembles a variable of Kubernetes is refused too, whatever its value."""
    monkeypatch.setenv(written, "tcp://10.0.0.1:8000" if "PORT_8000" in written else "a value that is kept to itself")
    said = refusal()
    assert said == f"{written.upper()} is no setting" + (f", {meant} may be meant." if meant else ".")


def test_names_of_others_are_let_be_and_what_is_empty_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable may be there and empty, as compose.yaml leaves one without a value."""
    assert not OTHERS & set(SETTINGS)
    for name in OTHERS:
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("PARAPH_SMTP_ULR", "")
    monkeypatch.setenv("PARAPH_SMTP_URL_FILE", "")
    assert read_settings().smtp_url == ""


def test_what_kubernetes_says_of_services_named_like_ours_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = {"SERVICE_HOST": "10.0.0.1", "SERVICE_PORT": "8000", "SERVICE_PORT_HTTP": "8000"}
    addresses = {"PORT": "tcp://10.0.0.1:8000", "PORT_8000_TCP": "tcp://10.0.0.1:8000", "PORT_8000_TCP_PROTO": "tcp"}
    more = {"PORT_8000_TCP_PORT": "8000", "PORT_8000_TCP_ADDR": "10.0.0.1"}
    for service in ("PARAPH", "PARAPH_WEB", "PARAPH_POSTGRES_2"):
        for name, value in (numbers | addresses | more).items():
            monkeypatch.setenv(f"{service}_{name}", value)
    assert read_settings().port == 8000
    monkeypatch.setenv("PARAPH_PORT", "tcp://here")
    assert refusal().startswith("PARAPH_PORT: ")


@pytest.mark.parametrize(
    ("content", "value"), [("s" * 40, "s" * 40), ("s" * 40 + "\n", "s" * 40), (" s\r\n", " s"), ("s\n\n", "s\n")]
)
def test_a_value_is_read_from_its_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str, value: str
) -> None:
    """Docker and Kubernetes hand secrets over in files; one line break at the end comes from the editor."""
    (tmp_path / "secret").write_bytes(content.encode())
    monkeypatch.setenv("PARAPH_SECRET_KEY_FILE", str(tmp_path / "secret"))
    assert read_settings().secret_key == value


def test_every_setting_can_be_read_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    values = {
        "DATABASE_URL": "postgresql://paraph:secret@db.example.com/paraph",
        "PARAPH_SECRET_KEY_PREVIOUS": "a, b",
        "PARAPH_WEB_THREADS": "7",
        "PARAPH_MAIL_PROVIDER_SETTINGS": '{"POSTMARK_SERVER_TOKEN": "t"}',
        "PARAPH_MESSAGES_PRO": "1/2",
    }
    for name, value in values.items():
        (tmp_path / name).write_text(f"{value}\n")
        monkeypatch.setenv(f"{name}_FILE", str(tmp_path / name))
    read = read_settings()
    assert (read.database_url, read.secret_key_previous) == (values["DATABASE_URL"], ["a", "b"])
    assert (read.web_threads, read.mail_provider_settings) == (7, {"POSTMARK_SERVER_TOKEN": "t"})
    assert str(read.messages_pro) == "1/2"
    assert {"database_url", "web_threads"} <= read.model_fields_set
    assert not set(values) & set(os.environ)  # no process that this one starts inherits them


@pytest.mark.parametrize(
    ("content", "wrong"),
    [(b"", "is empty"), (b" \n", "is empty"), (b"\xff", "is no text in UTF-8"), (None, "cannot be read: No such file")],
)
def test_a_file_that_gives_no_value_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None, wrong: str
) -> None:
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv("PARAPH_METRICS_TOKEN_FILE", str(path))
    assert refusal().startswith(f"PARAPH_METRICS_TOKEN_FILE: {path} {wrong}")


def test_a_setting_that_is_given_both_ways_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("one")
    monkeypatch.setenv("PARAPH_METRICS_TOKEN", "other")
    monkeypatch.setenv("PARAPH_METRICS_TOKEN_FILE", str(tmp_path / "secret"))
    assert refusal() == "PARAPH_METRICS_TOKEN_FILE: PARAPH_METRICS_TOKEN is set, too."


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
            said = refusal()
        assert all(f"PARAPH_{name}" in said for name in wrong)


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
    said = refusal()
    assert said.startswith("DATABASE_URL: must be postgresql://[user[:password]@]host[:port]/database, with ")
    assert "sec" not in said.replace("several hosts", "")
