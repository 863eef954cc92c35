"""The bytes of the OpenAPI document and of answers to calls of every operation are those that were recorded.

A change of either is seen here, whatever made it. One that is meant is recorded anew, and read as a difference of
``recorded/``: ``PARAPH_RECORD=1 pytest tests/api/v1/test_same_answers.py``.
"""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from paraph.webhooks.models import Delivery
from tests.api.v1 import test_fields, test_templates
from tests.api.v1.api_clients import ApiClient, api_client, branding_profile, payload
from tests.drafts.author import author
from tests.flow.test_jobs import work_off
from tests.production import Client

_FOLDER = Path(__file__).parent / "recorded"
_CHANGING: list[tuple[str, str]] = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"(\"label\":\"signed_on\",[^{}]*?\"value\": ?)\"\d{4}-\d\d-\d\d\"", r'\1"TODAY"'),
    (r"/(sign|copies|confirm)/(?!embed)[\w~.-]{20,}", r"/\1/TOKEN"),
    (r"(\?|&)(expires|signature|v)=[\w-]+", r"\1\2=KEY"),
    (r"\b([0-9a-f]{64}|(?<=-)[0-9a-f]{16}(?=\.pdf))\b", "DIGEST"),
    (r"/files/(\w+)/[0-9a-f]{32}", r"/files/\1/KEY"),
    (r"\blocal:[0-9a-f]+", "local:KEY"),
    (r"(\"(?:code|sandbox_code)\": ?)\"\d{6}\"", r'\1"CODE"'),
    (r"(\"next_cursor\": ?)\"[^\"]+\"", r'\1"CURSOR"'),
    (r"(\"file_size\": ?)\d+", r"\1SIZE"),
]
_NUMBERED = re.compile(
    r"(\"(?:\w+_)?ids?\": ?\[?|"
    r"/(?:signature_requests|signers|documents|templates|drafts|app|branding_profiles)/|(?<=cursor=))(\d+)"
)


class Recorder:
    """The lines of calls and their answers, in which everything that changes from run to run is replaced."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._numbers: dict[str, int] = {}

    def add(self, call: str, response: Any) -> Any:
        """Record the answer to the call; return its body."""
        kept = [f"{name}: {response[name]}" for name in ("Retry-After", "Allow", "Location") if name in response]
        kind = response.headers.get("Content-Type", "")
        self.tell(f"{call} -> {response.status_code} {' '.join(kept)}", response.content if "json" in kind else kind)
        return response.json() if "json" in kind else None

    def tell(self, call: str, content: str | bytes) -> None:
        self.lines += [self._same(call).strip(), self._same(content)]

    def _same(self, text: str | bytes) -> str:
        text = text if isinstance(text, str) else text.decode()
        for pattern, replacement in _CHANGING:
            text = re.sub(pattern, replacement, text)
        return _NUMBERED.sub(self._number, text)

    def _number(self, found: re.Match[str]) -> str:
        return f"{found[1]}#{self._numbers.setdefault(found[2], len(self._numbers) + 1)}"


class Caller:
    """A client of the API whose calls are recorded."""

    def __init__(self, client: ApiClient, recorder: Recorder) -> None:
        self._client, self._recorder = client, recorder

    def get(self, path: str, **query: Any) -> Any:
        return self._recorder.add(f"GET {path} {query or ''}".strip(), self._client.get(path, **query))

    def post(self, path: str, content: Any = None) -> Any:
        said = b"" if content is None else json.dumps(content).encode()
        return self._recorder.add(f"POST {path}", self._client.send("POST", path, said))

    def delete(self, path: str) -> Any:
        return self._recorder.add(f"DELETE {path}", self._client.send("DELETE", path))

    def upload(self, *what: Any, **more: Any) -> Any:
        return self._recorder.add("POST /documents", self._client.upload(*what, **more))

    def with_header(self, name: str, value: str) -> "Caller":
        return Caller(ApiClient(self._client.api_key, self._client.organization, {name: value}), self._recorder)


# Tables whose numbers also stand where :data:`_NUMBERED` does not find them: in sentences and names of files.
_TOLD_PLAINLY = {
    "messaging_capturedmessage_id_seq": 290_000,
    "signature_requests_requestdocument_id_seq": 540_000,
    "signature_requests_signaturerequest_id_seq": 550_000,
    "signature_requests_signer_id_seq": 560_000,
}


def _number_apart() -> None:
    """Let no two tables have a number in common, so that each number in the recording stands for one row."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sequencename FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1")
        for index, (name,) in enumerate(cursor.fetchall(), start=1):
            cursor.execute(
                f'ALTER SEQUENCE "{name}" RESTART WITH {_TOLD_PLAINLY.get(name, 1_000_000 + index * 10_000)}'
            )


def _compare(name: str, told: str) -> None:
    file = _FOLDER / name
    if os.environ.get("PARAPH_RECORD"):
        file.write_text(told)
    assert told.splitlines() == file.read_text().splitlines()


def test_the_openapi_document() -> None:
    content = Client().get("/api/v1/openapi.json").json()
    parts = [(name, part) for name, part in content.items() if name not in ("paths", "components")]
    parts += content["paths"].items()
    for kind, each in content["components"].items():
        parts += [(f"{kind}/{name}", part) for name, part in each.items()]
    assert content.keys() >= {"openapi", "info", "paths", "components", "webhooks"}
    _compare("openapi.txt", "".join(f"{name} {json.dumps(part)}\n" for name, part in parts))


def _refusals(recorder: Recorder) -> None:
    owner = Caller(api_client(), recorder)
    owner.get("/health")
    Caller(ApiClient(None), recorder).get("/documents")
    Caller(ApiClient("0" * 64), recorder).get("/documents")
    owner.get("/signature_requests/1")
    owner.get("/nowhere")
    owner.delete("/signature_requests")
    owner.get("/signature_requests", limit="many", status="odd")
    owner.get("/documents", cursor="?")
    owner.post("/signature_requests", [])
    owner.post("/signature_requests", {})
    recorder.add("POST no JSON", api_client().send("POST", "/signature_requests", b"{"))
    recorder.add("POST a form", api_client().send("POST", "/signature_requests", b"a=b", "text/plain"))
    document = owner.upload()["id"]
    wrong: list[dict[str, Any]] = [
        {"mode": "odd", "validity_days": 0, "signers": [], "documents": []},
        {"signers": [{"ref": "a"}], "documents": [{"id": "7", "signers": [{"signer_ref": "b", "stamps": [{}]}]}]},
        payload(document, send_emial=True),
        payload(document, metadata={"a": 7}, redirect_url="ftp://a", callback_url="x", reminders=7, copies=[{}]),
        payload(99, validity_days=400, locale="xx", branding_profile_id=99),
        test_fields.with_fields(document, *(test_fields.field(kind, name="", value=[7]) for kind in _KINDS)),
        test_fields.with_fields(document, test_fields.field(value="x" * 300), test_fields.field(max_length=0)),
    ]
    for content in wrong:
        for language in ("en", "de"):
            owner.with_header("Accept-Language", language).post("/signature_requests", {"signature_request": content})


_KINDS = ("text", "multiline", "number", "date", "checkbox", "choice", "signed_on", "odd")


def _documents(recorder: Recorder) -> None:
    client = api_client()
    owner = Caller(client, recorder)
    owner.upload(b"no PDF")
    document = owner.upload(name="Vertrag für Zoë.pdf")["id"]
    owner.upload()
    owner.get(f"/documents/{document}")
    owner.get("/documents")
    owner.get("/documents", limit=1)
    owner.get(f"/documents/{document}/tags")
    owner.get(f"/documents/{document}/tags", tag="Between")
    branding_profile(client)
    owner.get("/branding_profiles")


def _everything(document: int, profile: int) -> dict[str, Any]:
    person = {"first_name": "Carla", "last_name": "Copy", "email": "carla@example.com"}
    said = ("send_email", "identity_declaration_accepted", "decline_allowed", "initials_required", "watermark_enabled")
    options = dict.fromkeys((*said, "notify_signers_on_completion"), True) | {
        "copies": [person],
        "external_id": "4711",
        "metadata": {"customer": "Zoë"},
        "reminders": {"every_days": 2, "at_most": 3},
        "redirect_url": "https://example.com/thanks",
        "callback_url": "https://example.com/hook",
        "locale": "fr",
        "branding_profile_id": profile,
    }
    return test_fields.with_fields(document, *test_fields.EVERY, **options)


def _requests(recorder: Recorder) -> None:
    client = api_client()
    owner = Caller(client, recorder)
    document = owner.upload()["id"]
    made = owner.post("/signature_requests", {"signature_request": payload(document)})
    owner.get(f"/signature_requests/{made['id']}")
    whole = {"signature_request": _everything(document, branding_profile(client).pk)}
    owner.post("/signature_requests/preview", whole)
    owner.post("/signature_requests/preview", {"signature_request": payload(document, mode="odd", unknown=1)})
    keyed = owner.with_header("Idempotency-Key", "once")
    other = keyed.post("/signature_requests", whole)
    keyed.post("/signature_requests", whole)
    keyed.post("/signature_requests", {"signature_request": payload(document)})
    approved = owner.post("/signature_requests", {"signature_request": test_fields.with_approver(document)})
    for query in ({}, {"limit": 1}, {"status": "pending"}, {"external_id": "4711"}, {"limit": 1, "order": "asc"}):
        owner.get("/signature_requests", **query)
    work_off()
    signers = [each["id"] for each in other["signers"]]
    owner.post(f"/signature_requests/{other['id']}/signers/{signers[0]}/remind")
    owner.post(f"/signature_requests/{other['id']}/signers/{signers[1]}/remind")
    acts = "/sandbox/signature_requests"
    owner.post(f"{acts}/{made['id']}/signers/{made['signers'][1]['id']}/sign")
    owner.post(f"{acts}/{made['id']}/signers/{made['signers'][0]['id']}/sign", {"signature": {"type": "odd"}})
    for signer in made["signers"]:
        owner.post(f"{acts}/{made['id']}/signers/{signer['id']}/sign")
    owner.post(f"{acts}/{other['id']}/signers/{signers[0]}/decline", {"reason": "No."})
    owner.post(f"{acts}/{approved['id']}/expire")
    owner.post(f"/signature_requests/{approved['id']}/end", {"reason": "withdrawn"})
    work_off()
    for request in (made, other, approved):
        owner.get(f"/signature_requests/{request['id']}")
        owner.get(f"/signature_requests/{request['id']}/audit_logs", limit=100)
    owner.get("/events")
    owner.get("/events", limit=2, type="signer.signed")
    for delivery in Delivery.objects.order_by("pk"):
        recorder.tell(f"webhook {delivery.event_type}", delivery.payload)


def _signing(recorder: Recorder) -> None:
    owner = Caller(api_client(), recorder)
    document = owner.upload()["id"]
    content = test_fields.with_fields(document, *test_fields.EVERY, decline_allowed=True)
    made = owner.post("/signature_requests", {"signature_request": content})
    ada, grace = (f"/sign/{each['signing_url'].rpartition('/')[2]}" for each in made["signers"])

    def post(path: str, said: Any) -> Any:
        return recorder.add(f"POST {path}", Client().post(path, json.dumps(said), "application/json"))

    def get(path: str) -> Any:
        return recorder.add(f"GET {path}", Client().get(path, headers={"Accept": "application/json"}))

    post("/sign/nobody/otp", {})
    get(f"{ada}/fields")
    entry = {"document_id": document, "name": "rent"}
    post(f"{ada}/fields", {"fields": {"rent": "many"}})
    post(f"{ada}/fields", {"fields": [{**entry, "value": "many"}, {**entry, "name": "nothing"}]})
    post(f"{ada}/fields", {"fields": [{**entry, "value": "1250.50"}]})
    get(f"{ada}/progress")
    post(f"{grace}/otp", {"channel": "email"})
    post(f"{ada}/otp", {"channel": "pigeon"})
    code = post(f"{ada}/otp", {"channel": "email"})["sandbox_code"]
    post(f"{ada}/signature", {"code": "000000" if code != "000000" else "000001", "consent": True})
    post(f"{ada}/signature", {"code": code})
    post(f"{ada}/signature", {"code": code, "consent": True, "signature": {"type": "drawn", "strokes": [7]}})
    post(f"{ada}/signature", {"code": code, "consent": True, "fields": [{**entry, "value": "x" * 99}]})
    post(f"{ada}/signature", {"code": code, "consent": True, "locale": "de"})
    post(f"{ada}/signature", {"code": code, "consent": True})
    post(f"{grace}/decline", {"reason": "x" * 3000})
    post(f"{grace}/decline", {"reason": "Too dear."})
    get(f"{grace}/progress")
    owner.get(f"/signature_requests/{made['id']}")


def _templates(recorder: Recorder) -> None:
    owner = Caller(api_client(), recorder)
    document = owner.upload()["id"]
    owner.post("/templates", {"template": {"name": "", "roles": [{"name": "A"}, {"name": "A"}], "documents": [{}]}})
    wanted = test_templates.wanted(document)
    wanted["documents"][0]["roles"][0]["fields"] = [
        {"placement": test_fields.PLACE, **each} for each in test_fields.EVERY if "value" not in each
    ]
    made = owner.post("/templates", {"template": wanted})
    for path in ("/templates", f"/templates/{made['id']}"):
        owner.get(path)
    people = test_templates.people("Tenant", "Landlord")
    sending = f"/templates/{made['id']}/signature_requests"
    owner.post(sending, {"signature_request": {"signers": people[:1]}})
    owner.post(sending, {"signature_request": {"signers": [*people, {"role": "Guest"}]}})
    sent = owner.post(sending, {"signature_request": {"signers": people, "validity_days": 3}})
    owner.get(f"/signature_requests/{sent['id']}")
    owner.delete(f"/templates/{made['id']}")
    owner.get(f"/templates/{made['id']}")


def _drafts(recorder: Recorder) -> None:
    client = api_client("pro", "production", author().member.organization)
    owner = Caller(client, recorder)
    document = owner.upload()["id"]
    owner.post("/drafts", {"signature_request": {"signers": [{"ref": "a", "email": "no address"}], "mode": "odd"}})
    for wanted in ({}, payload(document), {"documents": [{"id": document}], "validity_days": 9}):
        made = owner.post("/drafts", {"signature_request": wanted})
        owner.get(f"/drafts/{made['id']}")


PARTS = [_refusals, _documents, _requests, _signing, _templates, _drafts]


@pytest.mark.django_db
@pytest.mark.parametrize("part", PARTS)
def test_answers(part: Callable[[Recorder], None]) -> None:
    _number_apart()
    recorder = Recorder()
    part(recorder)
    _compare(f"{part.__name__.removeprefix('_')}.txt", "\n".join(recorder.lines) + "\n")
