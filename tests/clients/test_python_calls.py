"""Every call of the Python client: what it sends, and how its answer is read, by both clients."""

import asyncio
import inspect
import json
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest

from paraph.api.v1.openapi import ANSWERS
from paraph_client import (
    AsyncClient,
    Client,
    Copy,
    CopyInput,
    DocumentInput,
    Field,
    FieldInput,
    FieldPlace,
    Placement,
    Problem,
    RolePlacement,
    RoleSigner,
    SignerInput,
    StampPlace,
    TemplateDocument,
    TemplateRole,
    at,
    under_tag,
)
from tests.api.v1.api_clients import rectangle, tag
from tests.clients.conftest import Answering

AT = "2026-01-02T03:04:05Z"
PERSON: dict[str, Any] = {"first_name": "Ada", "last_name": "B", "email": "a@b.example"}
APPROVER = {"first_name": "Bo", "last_name": "C", "email": "b@c.example", "role": "approver"}
KIM: dict[str, Any] = {"first_name": "Kim", "last_name": "C", "email": "k@c.example"}
REMINDED: dict[str, Any] = ANSWERS["remindSigner"]["reminded"][1]
SIGNER = REMINDED | PERSON | {"delivery": {"put_off_until": AT}}
REFUSED = SIGNER | {"delivery": {"failed": {"reason": "The mail server refuses …: 550 no", "at": AT}}}
ENDED = {"expires_at": AT, "created_at": AT, "ended_early": True, "ended_reason": "Withdrawn"}
REQUEST: dict[str, Any] = ANSWERS["sandboxSign"]["signed"][1] | ENDED | {"signers": [SIGNER, REFUSED]}
TEMPLATE: dict[str, Any] = {"id": 5, "name": "Lease", "mode": "parallel", "validity_days": 3, "roles": []}
TEMPLATE |= {"documents": [], "created_at": AT, "send_email": True}
DRAFT = {"id": 8, "review_url": "https://x.example/drafts/8"}
EVENT = {name: value for name, value in ANSWERS["listEvents"]["two"][1]["data"][0].items() if name != "id"}
OPTIONS: dict[str, Any] = {
    "mode": "parallel",
    "validity_days": 3,
    "external_id": "lease-9",
    "metadata": {"unit": "3b"},
    "redirect_url": "https://x.example/back",
    "reminders": {"every_days": 3, "at_most": 2},
    "decline_allowed": True,
}
OK = FieldInput("ok", "checkbox", under_tag("{{ok}}"))
CREATION: dict[str, Any] = OPTIONS | {
    "signers": [SignerInput("a", **PERSON), SignerInput("b", "Bo", "C", "b@c.example", role="approver")],
    "documents": [DocumentInput(35, [Placement("a", [at(1, 2, 3)], [OK]), Placement("b")])],
    "copies": [CopyInput(**KIM)],
}
ASSIGNED = [
    {
        "signer_ref": "a",
        "stamps": [rectangle(1, 2, 3) | {"optional": False}],
        "fields": [{"name": "ok", "type": "checkbox", "placement": tag("{{ok}}", optional=False)}],
    },
    {"signer_ref": "b", "stamps": []},
]
DOCUMENTS = [{"id": 35, "signers": ASSIGNED}]
SIGNERS = [{"ref": "a", **PERSON}, {"ref": "b", **APPROVER}]
BODY = {"signature_request": {**OPTIONS, "signers": SIGNERS, "copies": [KIM], "documents": DOCUMENTS}}
NAMED = {"name": "Lease", "mode": "parallel", "validity_days": 3}
NEW_TEMPLATE: dict[str, Any] = NAMED | {
    "roles": [TemplateRole("Tenant", "sms")],
    "documents": [TemplateDocument(35, [RolePlacement("Tenant", [under_tag("{{t}}", width=90, height=40)])])],
}
TENANT = {"type": "magic_field", "value": {"tag": "{{t}}", "width": 90, "height": 40}, "optional": False}
TEMPLATE_BODY = {
    "template": NAMED
    | {
        "roles": [{"name": "Tenant", "otp_channel": "sms"}],
        "documents": [{"id": 35, "roles": [{"role": "Tenant", "stamps": [TENANT]}]}],
    }
}
ROLES = [RoleSigner("Tenant", **PERSON, phone="+34600")]
SENT_ROLES = [{"role": "Tenant", **PERSON, "phone": "+34600"}]
PLACED = {"document_id": 35, "signer_ref": "a", "page_number": 1, "x": 2.0, "y": 3.0}
PREVIEW: dict[str, Any] = {
    "valid": False,
    "problems": [{"path": "signers", "code": "validation_error", "message": "No."}],
    "placements": [PLACED | {"stamp": 0, "width": 200.0, "height": 80.0}],
}
ACTED = "/api/v1/sandbox/signature_requests/71"


class Sample(NamedTuple):
    """A method with its arguments, what it should send, and what it is answered."""

    name: str
    args: tuple[Any, ...]
    options: dict[str, Any]
    method: str
    path: str
    body: Any
    answer: Any


SAMPLES = [
    Sample("list_tags", (35,), {}, "GET", "/api/v1/documents/35/tags", None, {"data": []}),
    Sample("list_tags", (35,), {"text": "Sign & date"}, "GET", "/api/v1/documents/35/tags?text=Sign+%26+date", None,
     {"data": [{"tag": "{{a}}", "page_number": 1, "x": 1.5, "y": 2, "width": 3, "height": 4}]}),
    Sample("create_signature_request", (), CREATION, "POST", "/api/v1/signature_requests", BODY, REQUEST),
    Sample("preview_request", (), CREATION, "POST", "/api/v1/signature_requests/preview", BODY, PREVIEW),
    Sample("signature_requests", (), {"external_id": "lease-9"}, "GET",
     "/api/v1/signature_requests?external_id=lease-9", None,
     {"data": [REQUEST], "pagination": {"page": 1, "limit": 20, "count": 1, "pages": 1}}),
    Sample("end_request", (71, "Withdrawn"), {}, "POST", "/api/v1/signature_requests/71/end", {"reason": "Withdrawn"},
     REQUEST),
    Sample("remind_signer", (71, 4), {}, "POST", "/api/v1/signature_requests/71/signers/4/remind", None, SIGNER),
    Sample("correct_signer", (71, 4), {"email": "zoe@example.org", "language": "sv"}, "POST",
     "/api/v1/signature_requests/71/signers/4/correct", {"email": "zoe@example.org", "language": "sv"}, REQUEST),
    Sample("extend_request", (71, 30), {}, "POST", "/api/v1/signature_requests/71/extend", {"validity_days": 30},
     REQUEST),
    Sample("list_events", (), {"after": "c", "limit": 5, "event": "signer.signed", "signature_request_id": 71}, "GET",
     "/api/v1/events?after=c&limit=5&event=signer.signed&signature_request_id=71", None,
     {"data": [{"id": 3, **EVENT}], "next": "d", "has_more": False}),
    Sample("list_templates", (), {"page": 2}, "GET", "/api/v1/templates?page=2", None,
     {"data": [TEMPLATE], "pagination": {"page": 2, "limit": 20, "count": 21, "pages": 2}}),
    Sample("template", (5,), {}, "GET", "/api/v1/templates/5", None, TEMPLATE),
    Sample("create_template", (), NEW_TEMPLATE, "POST", "/api/v1/templates", TEMPLATE_BODY, TEMPLATE),
    Sample("delete_template", (5,), {}, "DELETE", "/api/v1/templates/5", None, b""),
    Sample("send_template", (5,), {"signers": ROLES, "external_id": "x"}, "POST",
     "/api/v1/templates/5/signature_requests",
     {"signature_request": {"signers": SENT_ROLES, "external_id": "x"}}, REQUEST),
    Sample("create_draft", (), {"documents": CREATION["documents"]}, "POST", "/api/v1/drafts",
     {"signature_request": {"documents": DOCUMENTS}}, DRAFT),
    Sample("draft", (8,), {}, "GET", "/api/v1/drafts/8", None, DRAFT | {"status": "sent", "signature_request_id": 71}),
    Sample("sandbox_sign", (71, 4), {}, "POST", f"{ACTED}/signers/4/sign", None, REQUEST),
    Sample("sandbox_sign", (71, 4), {"signature": {"type": "typed", "hand": 2}}, "POST", f"{ACTED}/signers/4/sign",
     {"signature": {"type": "typed", "hand": 2}}, REQUEST),
    Sample("sandbox_expire", (71,), {}, "POST", f"{ACTED}/expire", None, REQUEST),
    Sample("sandbox_decline", (71, 4), {"reason": "No."}, "POST", f"{ACTED}/signers/4/decline",
     {"reason": "No."}, REQUEST),
]  # fmt: skip


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_what_each_call_sends(service: Answering, sample: Sample) -> None:
    service.answers = [(200, sample.answer, {})] * 2
    with Client(service.url, "k") as client:
        found = getattr(client, sample.name)(*sample.args, **sample.options)

    async def awaited() -> Any:
        async with AsyncClient(service.url, "k") as client:
            return await getattr(client, sample.name)(*sample.args, **sample.options)

    assert asyncio.run(awaited()) == found
    for asked in service.asked:
        assert (asked.method, asked.path) == (sample.method, sample.path)
        assert (json.loads(asked.body) if asked.body else None) == sample.body
    creates = sample.method == "POST" and not sample.path.endswith("preview")
    keys = {asked.headers.get("Idempotency-Key") for asked in service.asked}
    assert len(keys - {None}) == (2 if creates else 0)


def test_what_is_read(service: Answering) -> None:
    service.answers = [(200, answer, {}) for answer in (REQUEST, PREVIEW, DRAFT, b"%PDF-", TEMPLATE)]
    with Client(service.url, "k") as client:
        request = client.signature_request(71)
        preview = client.preview_request(**CREATION)
        assert client.create_draft().signature_request_id is None
        assert client.preview_pdf(**CREATION) == b"%PDF-"
        template = client.template(5)
    assert (template.name, template.options) == ("Lease", {"send_email": True})
    assert request.expires_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert request.signers[0].delivery and request.signers[0].delivery.put_off_until == request.created_at
    failed = request.signers[1].delivery
    assert failed and failed.put_off_until is None and failed.failed
    assert (failed.failed.reason[-6:], failed.failed.at) == ("550 no", request.created_at)
    assert request.reminders and request.reminders.every_days == 3
    assert (request.ended_early, request.ended_reason) == (True, "Withdrawn")
    assert (request.copies, request.decline_allowed, request.declined_by) == ([], False, None)
    assert (request.signers[0].role, request.signers[0].fields) == ("signer", [])
    assert preview.fields == []
    assert preview.problems == [Problem("signers", "validation_error", "No.")]
    assert preview.placements == [StampPlace(35, "a", 0, 1, 2.0, 3.0, 200.0, 80.0)]
    accepted = [asked.headers["Accept"] for asked in service.asked]
    assert [accepted[1], accepted[3]] == ["application/json", "application/pdf"]


def test_what_only_some_requests_have_is_read(service: Answering) -> None:
    field = {"document_id": 35, "name": "ok", "type": "checkbox", "label": "Agreed", "value": True}
    signers = [SIGNER | {"role": "approver", "fields": [field]}]
    some = REQUEST | {"signers": signers, "copies": [KIM], "decline_allowed": True, "declined_by": 9}
    fields = [PLACED | {"width": 12, "height": 12, "field": 0, "name": "ok"}]
    service.answers = [(200, some, {}), (200, PREVIEW | {"fields": fields}, {})]
    with Client(service.url, "k") as client:
        request = client.signature_request(71)
        preview = client.preview_request(**CREATION)
    assert request.signers[0].role == "approver"
    assert request.signers[0].fields == [Field(35, "ok", "checkbox", "Agreed", True)]
    assert request.copies == [Copy("Kim", "C", "k@c.example")]
    assert (request.decline_allowed, request.declined_by) == (True, 9)
    assert preview.fields == [FieldPlace(35, "a", 0, "ok", 1, 2.0, 3.0, 12.0, 12.0)]


def test_events_are_walked_by_their_cursor(service: Answering) -> None:
    first = {"data": [{"id": 1, **EVENT}, {"id": 2, **EVENT}], "next": "c", "has_more": True}
    last = {"data": [{"id": 3, **EVENT}], "next": "d", "has_more": False}
    service.answers = [(200, first, {}), (200, last, {})] * 2

    async def walk() -> list[Any]:
        async with AsyncClient(service.url, "k") as client:
            return [each async for each in client.iter_events(event="signer.signed")]

    with Client(service.url, "k") as client:
        events = list(client.iter_events(event="signer.signed"))
    assert events == asyncio.run(walk())
    assert [(event.id, event.event, event.payload) for event in events] == [
        (number, "signer.signed", EVENT) for number in (1, 2, 3)
    ]
    assert events[0].signature_request.id == 71 and events[0].signer and events[0].signer.email == "zoe@example.com"
    assert dict(parse_qsl(urlsplit(service.asked[0].path).query)) == {"event": "signer.signed", "limit": "100"}
    asked = {"after": "c", "event": "signer.signed", "limit": "100"}
    assert dict(parse_qsl(urlsplit(service.asked[1].path).query)) == asked


def test_both_clients_have_the_same_methods_which_say_what_they_do() -> None:
    lists = {"documents", "signature_requests", "audit_logs", "branding_profiles", "templates", "events"}
    names = {name for name in dir(Client) if name[0] != "_"} - {"close"}
    assert names == {name for name in dir(AsyncClient) if name[0] != "_"} - {"aclose"}
    assert {name.removeprefix("iter_") for name in names if name.startswith("iter_")} == lists
    for client in (Client, AsyncClient):
        assert not [name for name in names if not inspect.getdoc(getattr(client, name))]
        assert list(inspect.signature(client.document).parameters) == ["self", "document_id"]
