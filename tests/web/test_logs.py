"""What others say may stand in a line of the log; what opens something may not."""

import json
import logging
import logging.config
from typing import Any

import pytest

from paraph.web.logs import _cover, _Formatter, logging_settings
from paraph.web.request_log import _record


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("550 https://sign.example/sign/Ab3-_9xQ0123456789 is listed", "550 https://sign.example/sign/… is listed"),
        ("GET /files/a.pdf?expires=1&signature=0123456789abcdef", "GET /files/a.pdf?expires=1&signature=…"),
        ("X-Amz-Signature=0123456789abcdef&x=1", "X-Amz-Signature=…&x=1"),
        ("key " + "0af3" * 16 + " refused", "key … refused"),
        ("sign/<str:token> took 12 ms", "sign/<str:token> took 12 ms"),
    ],
)  # fmt: skip
def test_secrets_are_covered(said: str, kept: str) -> None:
    assert _cover(None, "info", said) == kept


@pytest.mark.parametrize("route", [None, r"^docs/?$\d\"é", "^/api/v1/documents/<int:document_id>"])
def test_the_line_of_a_request_is_json(route: str | None) -> None:
    facts = {"method": 'G"\\\n', "route": route, "status": 404, "milliseconds": 1.5, "request_id": "00ff"}
    line = _formatter().format(_record(logging.INFO, facts))
    said = json.loads(line)
    moment = said.pop("timestamp")
    assert line.count("\n") == 0 and moment.endswith("Z") and moment[10] == "T"
    assert said == facts | {"event": "request", "logger": "paraph.request", "level": "info"}


def test_lines_leave_whole_without_waiting_for_each_other(capfd: pytest.CaptureFixture[str]) -> None:
    settings = logging_settings("INFO")
    handler: Any = settings["handlers"]["stderr"]["()"]()
    assert handler.lock is None
    handler.setFormatter(_formatter())
    facts = {"method": "GET", "route": "x" * 200_000, "status": 200, "milliseconds": 1.5, "request_id": "00ff"}
    handler.handle(_record(logging.INFO, facts))
    assert json.loads(capfd.readouterr().err)["route"] == facts["route"]


def _formatter() -> _Formatter:
    return _Formatter(
        **{name: given for name, given in logging_settings("INFO")["formatters"]["line"].items() if name != "()"}
    )
