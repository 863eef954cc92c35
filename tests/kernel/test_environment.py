"""What the environment may hold: settings, values in files, names of others; and what it may not."""

import os
from pathlib import Path

import pytest

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
    """What only resembles names of Kubernetes is no setting either, whatever it says."""
    monkeypatch.setenv(written, "tcp://10.0.0.1:8000" if "PORT_8000" in written else "a value that is kept to itself")
    said = refusal()
    assert said == f"{written.upper()} is no setting" + (f", {meant} may be meant." if meant else ".")


def test_names_of_others_are_let_be_and_what_is_empty_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """As compose.yaml leaves whatever has no value."""
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
    """As Docker and Kubernetes hand secrets over; one line break at the end is the editor's."""
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
    assert not set(values) & set(os.environ)  # nothing that this process starts gets them


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
