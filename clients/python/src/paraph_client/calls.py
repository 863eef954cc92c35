"""Every call of the API, once: the methods of both clients."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, TypeVar, Unpack

import httpx

from paraph_client.answers import (
    AuditLogEntry,
    BrandingProfile,
    Document,
    Draft,
    EvidenceBundle,
    Health,
    Preview,
    SignatureRequest,
    Signer,
    Tag,
    Template,
)
from paraph_client.call import Call, Json
from paraph_client.inputs import (
    AnyRequest,
    Correction,
    NewRequest,
    NewTemplate,
    Options,
    RoleSigner,
    as_json,
)
from paraph_client.lists import Events, Page, events, page_of
from paraph_client.methods import Sent, Walked
from paraph_client.reading import reader

T = TypeVar("T")
_MIME = "application/pdf"

_health = reader(Health)
_document = reader(Document)
_request = reader(SignatureRequest)
_bundle = reader(EvidenceBundle)
_preview = reader(Preview)
_signer = reader(Signer)
_entry = reader(AuditLogEntry)
_profile = reader(BrandingProfile)
_draft = reader(Draft)
_tags = reader(list[Tag])
_bare_template = reader(Template)


class Calls:
    """Each describes what is sent. A client sends it, and returns or awaits the answer."""

    @Sent
    def health(self) -> Call[Health]:
        """Whether the service answers, and in which environment the key is."""
        return _read("health", _health)

    @Sent
    def upload_document(
        self, content: bytes, name: str = "document.pdf", *, accept_drawn_differently: bool = False
    ) -> Call[Document]:
        """Uploads a PDF; ``name`` is what the proof file calls it. ``accept_drawn_differently``: also one with text
        that a second renderer draws otherwise, which is refused else."""
        path = "documents" + "?accept_drawn_differently=true" * accept_drawn_differently
        return _made(path, _document, files={"file": (name, content, _MIME)})

    @Sent
    def document(self, document_id: int) -> Call[Document]:
        """One document, with a fresh ``download_url``."""
        return _read(f"documents/{document_id}", _document)

    @Sent
    def documents(
        self, /, *, page: int | None = None, limit: int | None = None, **filters: str | None
    ) -> Call[Page[Document]]:
        """One page; filters ``status``, ``created_after``, ``created_before``, ``order``."""
        return _read("documents", page_of(_document), page=page, limit=limit, **filters)

    iter_documents = Walked(documents)

    @Sent
    def list_tags(self, document_id: int, *, text: str | None = None) -> Call[list[Tag]]:
        """The texts in double braces of a document and where they stand, or those of another ``text``, verbatim."""
        return _read(f"documents/{document_id}/tags", lambda body: _tags(body["data"]), text=text)

    @Sent
    def create_signature_request(self, **request: Unpack[NewRequest]) -> Call[SignatureRequest]:
        """Creates a request, once: a repetition after a lost connection finds what was created."""
        return _made("signature_requests", _request, {"signature_request": as_json(request)})

    @Sent
    def preview_request(self, **request: Unpack[NewRequest]) -> Call[Preview]:
        """What a creation would do: all that is wrong with it, and where stamps would stand. Creates nothing."""
        return _previewed(request, lambda answer: _preview(answer.json()), "application/json")

    @Sent
    def preview_pdf(self, **request: Unpack[NewRequest]) -> Call[bytes]:
        """The documents of a creation as one PDF, with its stamps drawn. Creates nothing."""
        return _previewed(request, lambda answer: answer.content, _MIME)

    @Sent
    def signature_request(self, request_id: int) -> Call[SignatureRequest]:
        """One request; ``download_urls`` are filled once it is finalized."""
        return _read(f"signature_requests/{request_id}", _request)

    @Sent
    def evidence(self, request_id: int) -> Call[EvidenceBundle]:
        """Where all evidence of a finalized request lies, in one archive."""
        return _read(f"signature_requests/{request_id}/evidence", _bundle)

    @Sent
    def signature_requests(
        self, /, *, page: int | None = None, limit: int | None = None, **filters: str | None
    ) -> Call[Page[SignatureRequest]]:
        """One page; filters ``status``, ``external_id``, ``created_after``, ``created_before``, ``order``."""
        return _read("signature_requests", page_of(_request), page=page, limit=limit, **filters)

    iter_signature_requests = Walked(signature_requests)

    @Sent
    def audit_logs(
        self, request_id: int, *, page: int | None = None, limit: int | None = None
    ) -> Call[Page[AuditLogEntry]]:
        """One page of a request's journal, oldest first."""
        return _read(f"signature_requests/{request_id}/audit_logs", page_of(_entry), page=page, limit=limit)

    iter_audit_logs = Walked(audit_logs)

    @Sent
    def end_request(self, request_id: int, reason: str) -> Call[SignatureRequest]:
        """Withdraws a request before everybody has signed. The audit log and webhooks give the ``reason``, and so do
        the mails to those who were invited."""
        return _made(f"signature_requests/{request_id}/end", _request, {"reason": reason})

    @Sent
    def remind_signer(self, request_id: int, signer_id: int) -> Call[Signer]:
        """Sends a reminder to a signer whose turn it is."""
        return _made(f"signature_requests/{request_id}/signers/{signer_id}/remind", _signer)

    @Sent
    def correct_signer(
        self, request_id: int, signer_id: int, **correction: Unpack[Correction]
    ) -> Call[SignatureRequest]:
        """Puts right who a signer is who has not signed, or how they are reached; then their link is another one."""
        path = f"signature_requests/{request_id}/signers/{signer_id}/correct"
        return _made(path, _request, as_json(correction))

    @Sent
    def extend_request(self, request_id: int, validity_days: int) -> Call[SignatureRequest]:
        """Gives signers so many days from now, never less than they had."""
        return _made(f"signature_requests/{request_id}/extend", _request, {"validity_days": validity_days})

    @Sent
    def list_events(
        self,
        *,
        after: str | None = None,
        limit: int | None = None,
        event: str | None = None,
        signature_request_id: int | None = None,
    ) -> Call[Events]:
        """What happened after a cursor, of all requests: from the oldest kept where there is none, from now on with
        "latest". Go on from ``next``, and you miss nothing and see nothing twice."""
        return _read("events", events, after=after, limit=limit, event=event, signature_request_id=signature_request_id)

    iter_events = Walked(list_events)

    @Sent
    def branding_profiles(self, *, page: int | None = None, limit: int | None = None) -> Call[Page[BrandingProfile]]:
        """One page, sorted by name."""
        return _read("branding_profiles", page_of(_profile), page=page, limit=limit)

    iter_branding_profiles = Walked(branding_profiles)

    @Sent
    def template(self, template_id: int) -> Call[Template]:
        """One template."""
        return _read(f"templates/{template_id}", _template)

    @Sent
    def list_templates(self, *, page: int | None = None, limit: int | None = None) -> Call[Page[Template]]:
        """One page, sorted by name."""
        return _read("templates", page_of(_template), page=page, limit=limit)

    iter_templates = Walked(list_templates)

    @Sent
    def create_template(self, **template: Unpack[NewTemplate]) -> Call[Template]:
        """Keeps a template of requests, with roles instead of signers."""
        return _made("templates", _template, {"template": as_json(template)})

    @Sent
    def delete_template(self, template_id: int) -> Call[None]:
        """Requests made of it stay as they are."""
        return Call("DELETE", f"templates/{template_id}", lambda _: None)

    @Sent
    def send_template(
        self, template_id: int, *, signers: Sequence[RoleSigner], **options: Unpack[Options]
    ) -> Call[SignatureRequest]:
        """Creates a request of a template, with a signer for each role; ``options`` count instead of the template's."""
        body = {"signature_request": as_json({"signers": signers, **options})}
        return _made(f"templates/{template_id}/signature_requests", _request, body)

    @Sent
    def create_draft(self, **request: Unpack[AnyRequest]) -> Call[Draft]:
        """Prepares a request that a person looks at and sends. Anything may be missing."""
        return _made("drafts", _draft, {"signature_request": as_json(request)})

    @Sent
    def draft(self, draft_id: int) -> Call[Draft]:
        """What became of a draft."""
        return _read(f"drafts/{draft_id}", _draft)

    @Sent
    def sandbox_sign(
        self, request_id: int, signer_id: int, *, signature: Json | None = None, fields: list[Json] | None = None
    ) -> Call[SignatureRequest]:
        """Signs as the signer would on their page, by a key of the sandbox."""
        return _acted(request_id, f"signers/{signer_id}/sign", {"signature": signature, "fields": fields})

    @Sent
    def sandbox_expire(self, request_id: int) -> Call[SignatureRequest]:
        """Lets a request expire now, by a key of the sandbox."""
        return _acted(request_id, "expire")

    @Sent
    def sandbox_decline(self, request_id: int, signer_id: int, reason: str | None = None) -> Call[SignatureRequest]:
        """Declines for a signer, by a key of the sandbox; refused where the request does not allow it."""
        return _acted(request_id, f"signers/{signer_id}/decline", {"reason": reason})


def _read(path: str, parse: Callable[[Any], T], **parameters: Any) -> Call[T]:
    return Call("GET", path, lambda answer: parse(answer.json()), {"params": as_json(parameters)})


def _template(body: Json) -> Template:
    named = {each.name for each in fields(Template)}
    return _bare_template({**body, "options": {name: body[name] for name in body if name not in named}})


def _made(path: str, parse: Callable[[Any], T], body: Json | None = None, **options: Any) -> Call[T]:
    """A call that creates or changes something, with a key of its own: sent twice, it does so once."""
    if body is not None:
        options["json"] = body
    options["headers"] = {"Idempotency-Key": str(uuid.uuid4())}
    return Call("POST", path, lambda answer: parse(answer.json()), options)


def _previewed(request: NewRequest, parse: Callable[[httpx.Response], T], kind: str) -> Call[T]:
    options = {"json": {"signature_request": as_json(request)}, "headers": {"Accept": kind}}
    return Call("POST", "signature_requests/preview", parse, options)


def _acted(request_id: int, act: str, body: Json | None = None) -> Call[SignatureRequest]:
    path = f"sandbox/signature_requests/{request_id}/{act}"
    return _made(path, _request, as_json(body or {}) or None)
