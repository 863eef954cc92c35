"""Text of others may stand in a line of the log; a secret that opens something may not."""

import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from paraph.server import static_files
from paraph.server.logs import logging_settings
from paraph.signature_requests.links import token
from tests import factories
from tests.production import Client
from tests.tenancy import create_application, create_organization

LOG = logging.getLogger("paraph.request")


@pytest.fixture(autouse=True)
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Write the log of requests to standard error in the form that it has in the service."""
    settings = logging_settings("INFO")
    handler: Any = settings["handlers"]["stderr"]["()"]()
    given = dict(settings["formatters"]["line"])
    handler.setFormatter(given.pop("()")(**given))
    monkeypatch.setattr(LOG, "handlers", [handler])
    monkeypatch.setattr(LOG, "level", logging.INFO)
    monkeypatch.setattr(LOG, "propagate", False)
    LOG.isEnabledFor(logging.INFO)
    yield


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
def test_secrets_are_covered(capfd: pytest.CaptureFixture[str], said: str, kept: str) -> None:
    LOG.warning("%s", said)
    assert json.loads(capfd.readouterr().err)["event"] == kept


def test_the_line_of_a_request_is_json(capfd: pytest.CaptureFixture[str]) -> None:
    response = Client().generic('G"\\\n', "/docs")
    text = capfd.readouterr().err
    line = json.loads(text)
    moment, milliseconds = line.pop("timestamp"), line.pop("milliseconds")
    assert text.count("\n") == 1 and moment.endswith("Z") and moment[10] == "T" and milliseconds >= 0
    assert line == {
        "event": "request",
        "logger": "paraph.request",
        "level": "info",
        "method": 'G"\\\n',
        "route": "^docs(?:/(?P<topic>[a-z-]+))?/?$",
        "status": 405,
        "request_id": response["X-Request-Id"],
        "client": "127.0.0.1",
        "organization_id": None,
        "environment": None,
    }


@pytest.mark.django_db
def test_the_line_says_on_whose_behalf_a_request_was_answered(capfd: pytest.CaptureFixture[str]) -> None:
    made = create_application(create_organization("Acme", "pro").pk, "sandbox", "shop")
    client = Client(headers={"X-Api-Key": made.api_key})
    assert client.get("/api/v1/health").status_code == 200
    assert Client().get("/api/v1/health").status_code == 401
    scene = factories.scene(environment="production")
    assert Client().get(f"/sign/{token(scene.signers[0])}").status_code == 200
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    told = [(line["organization_id"], line["environment"]) for line in lines if line["event"] == "request"]
    known = (made.application.organization_id, "sandbox")
    assert told == [known, (None, None), (scene.request.organization_id, "production")]


WELL_FORMED = ["5f0c9a1e-7d1b-4f0e-9d2c-1f2e3d4c5b6a", "01J9ZK8_x.y", "a" * 8, "a" * 64]
ODD = ["", "a" * 7, "a" * 65, "abcdefgh\n", "abcdefgh ijk", 'abcdefgh"', "éèàéèàéèà", "٣٣٣٣٣٣٣٣"]


@pytest.mark.parametrize("given", WELL_FORMED + ODD)
def test_the_id_that_a_request_brings_is_kept_where_it_is_well_formed(
    capfd: pytest.CaptureFixture[str], given: str
) -> None:
    answered = Client(HTTP_X_REQUEST_ID=given).get("/docs?%00")["X-Request-Id"]
    assert (answered == given) is (given in WELL_FORMED)
    assert given in WELL_FORMED or (len(answered) == 16 and set(answered) <= set("0123456789abcdef"))
    [line] = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert line["request_id"] == answered


@pytest.mark.parametrize(
    ("path", "status"), [("/static/nothing.css", 404), ("/nowhere", 404), ("/docs?%00", 200), ("/sign/embed.css", 404)]
)
@pytest.mark.django_db
def test_what_is_refused_is_no_fault_of_the_service(capfd: pytest.CaptureFixture[str], path: str, status: int) -> None:
    assert Client().get(path).status_code == status
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [(line["event"], line["level"], line["status"]) for line in lines] == [("request", "info", status)]


def test_what_fails_is_logged_once_with_its_traceback(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_files, "contents", lambda: 1 / 0)
    client = Client()
    client.raise_request_exception = False
    assert client.get("/static/nothing.css").status_code == 500
    fault, answer = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert (fault["event"], fault["level"]) == ("unhandled", "error") and "ZeroDivisionError" in fault["exception"]
    assert fault["request_id"] == answer["request_id"]
    assert (answer["event"], answer["level"], answer["status"]) == ("request", "error", 500)


def test_lines_leave_whole_without_waiting_for_each_other(capfd: pytest.CaptureFixture[str]) -> None:
    with LOG.handlers[0].lock:  # type: ignore[union-attr]
        other = threading.Thread(target=LOG.warning, args=["x" * 200_000])
        other.start()
        other.join(30)
        assert not other.is_alive()
    assert json.loads(capfd.readouterr().err)["event"] == "x" * 200_000
