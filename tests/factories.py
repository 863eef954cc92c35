"""Requests for tests of signing: with documents in storage and signers, ready to sign."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.audit_trail.journal import Origin, follow
from paraph.audit_trail.models import Entry
from paraph.database.rows import insert, kept_once
from paraph.documents.models import Document
from paraph.evidence.models import ProofFile, SealedDocument, SharedContent
from paraph.flow.sealing.finalize import prove, publish, seal
from paraph.flow.sending.upload import IncomingFile, upload
from paraph.flow.signing.sign import Signature, send_otp
from paraph.flow.signing.sign import sign as sign_verb
from paraph.kernel import clock, tokens
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests.links import new_salt, token
from paraph.signature_requests.models import (
    Approval,
    CopyRecipient,
    Field,
    Placement,
    RequestDocument,
    Role,
    SignatureRequest,
    Signer,
)
from paraph.storage import store
from paraph.tenants.models import Application, Organization
from paraph.tenants.scope import TenantScope
from tests.pdf.pdf_factory import paper, text

VISITOR = Origin("203.0.113.9", "Mozilla/5.0 (test)")
TYPED: dict[str, Any] = {"type": "typed"}
NAMES = [("Ada", "Lovelace"), ("Émile", "Zola"), ("Grace", "Hopper"), ("Alan", "Turing")]


def nothing_shared() -> SharedContent:
    """The empty :class:`SharedContent` for a row of a sealed file that no seal made."""
    return SharedContent.objects.get(pk=kept_once(SharedContent, {"facts": {}, "certificates": {}}))


def pdf(pages: int = 1) -> bytes:
    """A PDF of A4 pages with a little text on each, a different file at every call."""
    return paper(*(text(f"Page {number + 1} {tokens.random_hex(4)}", 72, 700, 24) for number in range(pages)))


def uploaded(scope: TenantScope, content: bytes, name: str = "contract.pdf") -> Document:
    """Upload a file as a client would. Return its document."""
    with store.stage() as staged:
        file = IncomingFile(staged)
        file.write(content)
        return upload(scope, file, name, "application/pdf")


@dataclass
class Scene:
    """``signers`` in signing order; each has a stamp on every document."""

    request: SignatureRequest
    signers: list[Signer]
    request_documents: list[RequestDocument]
    uploads: list[bytes] = field(default_factory=list)

    def scope(self, plan: str = "pro") -> TenantScope:
        """The scope of the request's organization in the environment of the request."""
        request = self.request
        return TenantScope(request.organization_id, request.environment, plan, request.application_id)

    def entries(self) -> list[Entry]:
        return list(Entry.objects.filter(request=self.request))

    def events(self) -> list[str]:
        return [entry.event_type for entry in self.entries()]

    def url(self, position: int = 0, rest: str = "") -> str:
        return f"/sign/{token(self.signers[position])}{rest}"

    def signer(self, position: int = 0) -> Signer:
        """The signer as the row is now, with the request."""
        return Signer.objects.select_related("request__organization").get(pk=self.signers[position].pk)

    def code(self, position: int = 0) -> str:
        """Send this signer a new code, and return it as read from the message."""
        signer = self.signer(position)
        send_otp(signer, signer.otp_channel or "email", VISITOR)
        found = re.search(r"\b\d{6}\b", CapturedMessage.objects.latest("id").text)
        assert found
        return found.group()


def scene(
    *,
    signers: int = 1,
    documents: int = 1,
    pages: int = 1,
    plan: str = "pro",
    signer: Any = None,
    fields: Sequence[dict[str, Any]] = (),
    approvers: Collection[int] = (),
    copies: int = 0,
    **of_request: Any,
) -> Scene:
    """Make a request. ``signer``: columns of every signer; ``fields``: columns of each field that every signer has on
    every document; ``approvers``: positions of the signers who approve, without stamps and fields; ``copies``: how many
    people get copies; ``of_request``: columns of the request."""
    organization = Organization.objects.create(name="Acme Ltd", plan=plan)
    environment = of_request.setdefault("environment", "sandbox")
    application = Application.objects.create(
        organization=organization, environment=environment, name="shop", webhook_secret_encrypted=b""
    )
    of_request.setdefault("expires_at", clock.now() + timedelta(days=7))
    of_request.setdefault("mode", "parallel")
    of_request |= {"has_fields": bool(fields), "has_copies": copies > 0}
    request = SignatureRequest.objects.create(
        organization=organization, application=application, validity_days=7, **of_request
    )
    insert([follow(request, "signature_request.created")])
    roles = [Role.APPROVER if position in approvers else Role.SIGNER for position in range(signers)]
    rows = [_signer(request, order, {"role": role, **(signer or {})}) for order, role in enumerate(roles, 1)]
    made = Scene(request, rows, [])
    for position in range(documents):
        _document(made, position, pages, fields)
    for position in range(copies):
        first, last = NAMES[position % len(NAMES)]
        email = f"copy{position}@example.com"
        CopyRecipient.objects.create(
            request=request, position=position, first_name=first, last_name=last, email=email, token_salt=new_salt()
        )
    return made


def _signer(request: SignatureRequest, order: int, fields: dict[str, Any]) -> Signer:
    first, last = NAMES[(order - 1) % len(NAMES)]
    email = f"{first.lower()}{order}@example.com"
    return Signer.objects.create(
        request=request,
        order=order,
        token_salt=new_salt(),
        **{"first_name": first, "last_name": last, "email": email} | fields,
    )


def _document(made: Scene, position: int, pages: int, fields: Sequence[dict[str, Any]]) -> None:
    content = pdf(pages)
    key = f"test/{tokens.random_hex(16)}.pdf"
    store.put(key, content)
    document = Document.objects.create(
        organization_id=made.request.organization_id,
        environment=made.request.environment,
        name=f"contract-{position + 1}.pdf",
        sha256=tokens.sha256(content),
        file_size=len(content),
        pages=[[595, 842]] * pages,
        status="ready",
        object_key=key,
    )
    row = RequestDocument.objects.create(request=made.request, document=document, position=position)
    made.uploads.append(content)
    made.request_documents.append(row)
    for number, signer in enumerate(made.signers):
        if signer.role == Role.APPROVER:
            Approval.objects.create(request_document=row, signer=signer)
            continue
        x, y = 60 + 220 * (number % 2), 60 + 100 * (number // 2)
        Placement.objects.create(request_document=row, signer=signer, page_number=pages, x=x, y=y, width=200, height=80)
        for index, columns in enumerate(fields):
            _field(row, signer, index, columns)


def _field(row: RequestDocument, signer: Signer, index: int, columns: dict[str, Any]) -> Field:
    """Make a field below the signer's earlier ones, beside those of other signers; by default of the type ``text``."""
    columns = {"type": "text", "name": f"field-{index + 1}", "page_number": 1, **columns}
    box = columns["type"] == "checkbox"
    place = {"x": 60 + 180 * (signer.order - 1), "y": 660 - 24 * index}
    size = {"width": 12, "height": 12} if box else {"width": 160, "height": 18}
    columns = {"label": columns["name"], **place, **size, **columns}
    return Field.objects.create(request_document=row, signer=signer, position=index, **columns)


def sign(made: Scene, position: int = 0, *, initials: dict[str, Any] | None = None, locale: str = "en") -> Signer:
    """Have this signer ask for a code and sign with it."""
    code, signer = made.code(position), made.signer(position)
    mark = None if signer.is_approver else TYPED
    return sign_verb(signer, Signature(code, mark, initials, locale), VISITOR)


def finish(made: Scene) -> Scene:
    """Have everybody sign; then seal, prove and publish without jobs."""
    for position in range(len(made.signers)):
        sign(made, position)
    for row in made.request_documents:
        seal(row.pk)
    prove(made.request.pk)
    publish(made.request.pk)
    return made


def seal_everything(request: SignatureRequest) -> list[str]:
    """Make the rows and files that sealing leaves, without sealing. Return the object keys, that of the proof last."""
    keys = []

    def kept(key: str, content: bytes) -> dict[str, Any]:
        store.put(key, content)
        keys.append(key)
        facts = {"object_key": key, "sha256": tokens.sha256(content), "file_size": len(content)}
        return facts | {"seal": {"level": "B-T"}, "shared": nothing_shared()}

    for row in RequestDocument.objects.filter(request=request).order_by("position"):
        content = b"sealed %d" % row.document_id
        SealedDocument.objects.create(request_document=row, **kept(f"test/sealed-{row.pk}.pdf", content))
    ProofFile.objects.create(request=request, **kept(f"test/proof-{request.pk}.pdf", b"proof"))
    return keys


def jobs() -> list[tuple[str, dict[str, Any]]]:
    """The name and arguments of each job in the queue, in order."""
    rows = ProcrastinateJob.objects.order_by("id").values_list("task_name", "args")
    return [(name.rpartition(".")[2], args) for name, args in rows]
