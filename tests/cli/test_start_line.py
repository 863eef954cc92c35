"""What the first line of a start tells, and what it keeps to itself."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from paraph import __version__
from paraph.cli.session import log_start
from paraph.kernel.settings import Settings

CREDENTIAL = "sesame-sesame-sesame-sesame-sesame"


def started(command: str) -> dict[str, Any]:
    with capture_logs() as lines:
        log_start(command)
    [line] = lines
    return dict(line)


def test_the_version_and_what_is_set_up_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARAPH_WEB_PROCESSES", "3")
    monkeypatch.setenv("PARAPH_SEAL_LEVEL", "B-T")
    monkeypatch.setenv("PARAPH_MESSAGES_PRO", "10/30")
    monkeypatch.setenv("PARAPH_STORAGE_URL", "s3://bucket/folder")
    monkeypatch.setenv("PARAPH_SEALING_KEY", "pkcs11:token=seal?module-path=/lib/p11.so")
    line = started("web")
    assert line["event"] == "Paraph starts"
    assert (line["command"], line["version"], line["database"]) == ("web", __version__, "embedded")
    assert (line["storage"], line["sealing_key"], line["web_processes"]) == ("s3", "pkcs11", 3)
    assert (
        line["settings"].items()
        >= {
            "PARAPH_WEB_PROCESSES": 3,
            "PARAPH_SEAL_LEVEL": "B-T",
            "PARAPH_MESSAGES_PRO": "10/30",
            "PARAPH_STORAGE_URL": "set",
        }.items()
    )


@pytest.mark.parametrize(
    "variable",
    [
        str(field.validation_alias or f"PARAPH_{name.upper()}")
        for name, field in Settings.model_fields.items()
        if field.annotation is str
    ],
)
def test_no_text_is_told(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    address = f"http://user:{CREDENTIAL}@proxy:80"
    addresses = {"PARAPH_OUTBOUND_PROXY": address, "PARAPH_STORAGE_PUBLIC_URL": address, "PARAPH_SSO_ISSUER": ""}
    if value := addresses.get(variable, f"postgresql://user:{CREDENTIAL}@host/name"):
        monkeypatch.setenv(variable, value)
        line = started("worker")
        assert line["settings"][variable] == "set"
        assert CREDENTIAL not in str(line)
