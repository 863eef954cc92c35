"""``pytest tests/ways.py``: the source files and functions that each way through the service enters on its second pass.

A newcomer follows a call from file to file; their number says how spread out a subject is.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import paraph
from paraph.drafts.models import Draft
from paraph.pdf.verification.verify import verify
from paraph.tenants.models import Role
from tests.api.v1.api_clients import CONTRACT, api_client, payload
from tests.dashboard import test_drafts
from tests.dashboard.conftest import LogIn, log_in, organization, pdf
from tests.dashboard.test_drafts import entered, person, signers, stamp
from tests.factories import scene, sign
from tests.flow.test_jobs import work_off
from tests.pdf.sealed_files import authority, sealed
from tests.production import Client

__all__ = ["log_in", "organization"]  # fixtures
SOURCE = Path(paraph.__file__).parent


def entered_by(way: Callable[[], Any]) -> tuple[int, int]:
    """The numbers of files and of functions below ``src/paraph`` that are called."""
    codes: set[Any] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    sys.setprofile(note)
    try:
        way()
    finally:
        sys.setprofile(None)
    ours = [code for code in codes if code.co_filename.startswith(f"{SOURCE}/") and code.co_name != "<module>"]
    return len({code.co_filename for code in ours}), len(ours)


@pytest.mark.django_db
def test_ways(log_in: LogIn, organization: Any, capsys: pytest.CaptureFixture[str]) -> None:
    owner = api_client()
    document = owner.document()
    made = owner.create(payload(document)).json()
    owner.checked = False
    file = sealed(CONTRACT).content
    _, browser = log_in(Role.MEMBER)

    def sending() -> None:
        address = test_drafts.begun(browser, organization)
        browser.post(f"{address}/documents", {"file": pdf(), "action": "upload"})
        browser.get(f"{address}/signers")
        browser.post(f"{address}/signers", signers(person("Ada")))
        browser.get(f"{address}/places")
        draft = Draft.objects.latest("pk")
        browser.post(f"{address}/places", entered("stamp", stamp(draft)))
        browser.get(f"{address}/review")
        answer = browser.post(f"{address}/review", test_drafts.options(organization=""))
        assert re.search("/requests/", answer.headers.get("Location", "")), answer.content

    def signature() -> Callable[[], Any]:
        request = scene()
        body = {"code": request.code(), "consent": True}
        return lambda: Client().post(request.url(rest="/signature"), body, content_type="application/json")

    def sealing() -> Callable[[], Any]:
        sign(scene())
        return work_off

    page = made["signers"][0]["signing_url"].removeprefix("http://127.0.0.1:8000")
    ways: dict[str, Callable[[], Callable[[], Any]]] = {
        "POST /signature_requests": lambda: lambda: owner.create(payload(document)),
        "GET /signature_requests/{id}": lambda: lambda: owner.get(f"/signature_requests/{made['id']}"),
        "a signing page": lambda: lambda: Client().get(page),
        "a signature": signature,
        "all sealed, proven, published": sealing,
        "sending from the dashboard": lambda: sending,
        "a sealed file is verified": lambda: lambda: verify(file, [authority("p-256").root]),
    }
    told = [f"{'way':32}{'files':>8}{'functions':>12}"]
    for name, prepare in ways.items():
        prepare()()
        told.append("{:32}{:>8}{:>12}".format(name, *entered_by(prepare())))
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(told) + "\n")
