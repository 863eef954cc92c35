"""The page's checks of a webhook's signature do what they say."""

from typing import Any

import pytest

from paraph.webhooks.outbox import signature
from tests.reference.page import snippet
from tests.reference.test_page import whole

BODY = '{"event":"signer.signed","signature_request":{"id":71},"signer":{"first_name":"Émile"}}'
SECRET = "5e" * 32
GIVEN = signature(SECRET, BODY.encode())


def test_python() -> None:
    names: dict[str, Any] = {}
    exec(snippet(whole(), "verify-python"), names)
    assert names["is_genuine"](BODY.encode(), GIVEN, SECRET)
    for body, given in ((BODY + " ", GIVEN), (BODY, ""), (BODY, GIVEN[:-1])):
        assert not names["is_genuine"](body.encode(), given, SECRET)


def test_the_client(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(snippet(whole(), "verify-client"), names)
    assert names["receive"](BODY.encode(), GIVEN, SECRET) == 204
    assert capsys.readouterr().out == "signer.signed 71\n"
    assert names["receive"](BODY.encode() + b" ", GIVEN, SECRET) == 401
