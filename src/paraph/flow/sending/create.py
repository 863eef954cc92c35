"""Creating a signature request, in one statement (rule 4.5), and showing it before, as one PDF."""

from collections.abc import Iterator
from dataclasses import asdict, astuple, dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError
from django.db.models import Model
from django.utils.translation import gettext as _

from paraph.audit_trail.journal import Origin, begin
from paraph.audit_trail.models import Entry, EventType
from paraph.database.rows import insert_whole, reserve
from paraph.documents.refusals import sentence_of
from paraph.flow.housekeeping.make_room import make_room_for_request, require_room_for_seals
from paraph.idempotency.held_key import ExtraRows
from paraph.kernel import clock
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.typesetting.appearances import PreviewBox, PreviewPage, preview_overlays
from paraph.pdf.untrusted.page_reading import preview
from paraph.queue.jobs import job
from paraph.signature_requests.fields.input import row_of
from paraph.signature_requests.links import new_salt
from paraph.signature_requests.localized import full_name
from paraph.signature_requests.models import (
    Approval,
    CopyRecipient,
    Placement,
    RequestDocument,
    SignatureRequest,
    Signer,
)
from paraph.signature_requests.placing import PlannedDocument
from paraph.signature_requests.plan import PREVIEWED, RequestPlan, make_plan
from paraph.signature_requests.problems import Problems
from paraph.storage import store
from paraph.tenants.admin_log import Actor
from paraph.tenants.scope import TenantScope, tenant_key
from paraph.words import DEFAULT_LOCALE


@dataclass(frozen=True)
class Sender:
    """Who sends a request: an application, or a ``member`` from the dashboard, who may give it a ``title``
    and write a ``subject`` and a ``message`` to its signers."""

    origin: Origin
    member: Actor | None = None
    title: str = ""
    subject: str = ""
    message: str = ""


def create(
    scope: TenantScope, payload: object, sender: Sender, locale: str = "", extra_rows: ExtraRows = lambda _: []
) -> int:
    """Create the request that ``payload``, the value of the root key ``signature_request``, describes.

    ``locale`` is the language that the caller named, if any; ``extra_rows`` makes the rows inserted with it. Return its
    id. Search the documents for tags before anything is written. Raise ``DomainError`` as
    :func:`paraph.signature_requests.plan.make_plan` does, and ``insufficient_storage`` where the sandbox has no room.
    """
    plan = make_plan(scope, payload, locale=locale)
    make_room_for_request(scope)
    require_room_for_seals(scope, [each.document for each in plan.documents])
    try:
        return _made(scope, plan, sender, locale, extra_rows)
    except IntegrityError:
        make_plan(scope, payload)  # refuses a document that was removed meanwhile to make room
        raise


def _made(scope: TenantScope, plan: RequestPlan, sender: Sender, locale: str, extra_rows: ExtraRows) -> int:
    ids = reserve({SignatureRequest: 1, Signer: len(plan.draft.signers), RequestDocument: len(plan.documents)})
    request = _request(scope, plan, ids[SignatureRequest][0], sender, locale)
    signers = _signers(request, plan, ids[Signer])
    documents = _documents(request, plan, ids[RequestDocument])
    # one statement for each table
    places = sorted(_places(documents, signers, plan), key=lambda row: type(row).__name__)
    copies = [
        CopyRecipient(request=request, position=position, token_salt=new_salt(), **each.model_dump())
        for position, each in enumerate(plan.draft.copies)
    ]
    entries, invitations = _journal(request, plan, sender), _invitations(signers, plan)
    rows = [request, *signers.values(), *documents, *places, *copies, *entries]
    insert_whole([*rows, *extra_rows(request.pk), *invitations])
    return request.pk


def _request(scope: TenantScope, plan: RequestPlan, request_id: int, sender: Sender, locale: str) -> SignatureRequest:
    draft = plan.draft
    created_at = clock.now().replace(microsecond=0)  # as the API shows it, so that its filters agree with it
    return SignatureRequest(
        pk=request_id,
        **scope.columns,
        application_id=scope.application_id,
        sent_by_id=sender.member.id if sender.member else None,
        title=sender.title,
        subject=sender.subject,
        message=sender.message,
        external_id=draft.external_id or "",
        metadata=draft.metadata or None,
        redirect_url=draft.redirect_url or "",
        remind_every_days=draft.reminders.every_days if draft.reminders else None,
        reminders_at_most=draft.reminders.at_most if draft.reminders else None,
        branding_profile=plan.branding_profile,
        signature_only=plan.branding_profile is not None and plan.branding_profile.signature_only,
        mode=draft.mode,
        validity_days=draft.validity_days,
        send_email=draft.send_email,
        initials_required=draft.initials_required,
        notify_signers_on_completion=draft.notify_signers_on_completion,
        callback_url=draft.callback_url or "",
        decline_allowed=draft.decline_allowed,
        has_fields=any(planned.fields for planned in plan.documents),
        has_copies=bool(draft.copies),
        locale=locale or DEFAULT_LOCALE,
        locale_chosen=bool(locale),
        created_at=created_at,
        expires_at=created_at + timedelta(days=draft.validity_days),
    )


def _signers(request: SignatureRequest, plan: RequestPlan, ids: list[int]) -> dict[str, Signer]:
    """Build the signers by ``ref``, which is not stored."""
    return {
        draft.ref: Signer(
            pk=pk,
            request=request,
            first_name=draft.first_name,
            last_name=draft.last_name,
            email=draft.email,
            phone=draft.phone or "",
            role=draft.role,
            order=draft.order or position,
            otp_channel=draft.otp_channel or "",
            language=draft.language or "",
            locale=draft.language or "",
            token_salt=new_salt(),
        )
        for position, (pk, draft) in enumerate(zip(ids, plan.draft.signers, strict=True), 1)
    }


def _documents(request: SignatureRequest, plan: RequestPlan, ids: list[int]) -> list[RequestDocument]:
    return [
        RequestDocument(pk=pk, request=request, document=planned.document, position=position)
        for position, (pk, planned) in enumerate(zip(ids, plan.documents, strict=True))
    ]


def _places(documents: list[RequestDocument], signers: dict[str, Signer], plan: RequestPlan) -> Iterator[Model]:
    """Yield the stamps, approvals and fields, by document."""
    approvers = {signer.ref for signer in plan.draft.signers if signer.role == "approver"}
    for row, planned, given in zip(documents, plan.documents, plan.draft.documents, strict=True):
        for stamp in planned.placements:
            at, signer = asdict(stamp.rect), signers[stamp.signer_ref]
            yield Placement(request_document=row, signer=signer, page_number=stamp.page_number, **at)
        for listed in given.signers:
            if listed.signer_ref in approvers:
                yield Approval(request_document=row, signer=signers[listed.signer_ref])
        for field in planned.fields:
            found = row_of(field.given)
            found.request_document, found.signer = row, signers[field.signer_ref]
            found.position, found.page_number = field.number, field.page_number
            found.x, found.y, found.width, found.height = astuple(field.rect)
            yield found


def _journal(request: SignatureRequest, plan: RequestPlan, sender: Sender) -> list[Entry]:
    facts = {"mode": request.mode, "signers_count": len(plan.draft.signers), "documents_count": len(plan.documents)}
    sent_by = {"sent_by": sender.member.email} if sender.member else {}
    events: list[tuple[EventType, dict[str, Any]]] = [(EventType.CREATED, {**facts, **sent_by, **_remarks(plan)})]
    if plan.draft.identity_declaration_accepted:
        events.append((EventType.IDENTITY_DECLARED, {}))
    return begin(request, events, sender.origin)


def _remarks(plan: RequestPlan) -> dict[str, Any]:
    """List the ``documents`` that can look different than on the signer's page, and the ``prepared_documents``, of
    which signers see the prepared file. A list without entries is left out."""
    used = [planned.document for planned in plan.documents]
    lists = {
        "documents": [{"document_id": each.pk, **told} for each in used if (told := each.remarks())],
        "prepared_documents": [{"document_id": each.pk, **told} for each in used if (told := each.preparation_facts())],
    }
    return {key: documents for key, documents in lists.items() if documents}


def _invitations(signers: dict[str, Signer], plan: RequestPlan) -> list[Model]:
    """Return the jobs that invite the first signer (sequential) or all signers (parallel; rule 3.2)."""
    if not plan.draft.send_email:
        return []
    ordered = sorted(signers.values(), key=lambda signer: signer.order)
    invited = ordered[:1] if plan.draft.mode == "sequential" else ordered
    return [job("invite", signer_id=signer.pk) for signer in invited]


MOST_PAGES = 1000
MOST_MIB = 100


def preview_pdf(scope: TenantScope, payload: object, locale: str) -> bytes:
    """Return the documents, one after the other, with a box where each stamp and field would stand, and the name or
    label in it. ``locale``: the one that the request would have. Raise ``DomainError`` as a creation does, but for
    values that a preview does not measure, and ``validation_error`` for documents that are too large together."""
    plan, problems = make_plan(scope, payload, locale=locale, measured=PREVIEWED), Problems()
    _bound(plan, problems)
    problems.refuse()
    people = plan.draft.signers
    names = {each.ref: full_name(each.first_name, each.last_name, each.language or locale) for each in people}
    overlays: dict[PreviewPage, int] = {}
    places = [
        [overlays.setdefault(page, len(overlays)) for page in _pages(planned, names)] for planned in plan.documents
    ]
    files = [store.get(planned.document.shown_key) for planned in plan.documents]
    try:
        return preview(
            files, preview_overlays(list(overlays)), places, tenant_key=tenant_key(plan.documents[0].document)
        )
    except PdfRefused as refused:
        problems.add("documents", sentence_of(refused))
        problems.refuse()
        raise


def _bound(plan: RequestPlan, problems: Problems) -> None:
    documents = [planned.document for planned in plan.documents]
    pages, size = sum(len(each.pages) for each in documents), sum(each.file_size for each in documents)
    if pages > MOST_PAGES or size > MOST_MIB * 1024 * 1024:
        sentence = _("a preview as PDF takes at most %(pages)d pages and %(size)d MiB together, not %(count)d pages.")
        problems.add("documents", sentence % {"pages": MOST_PAGES, "size": MOST_MIB, "count": pages})


def _pages(planned: PlannedDocument, names: dict[str, str]) -> list[PreviewPage]:
    boxes: dict[int, list[PreviewBox]] = {}
    named = [(stamp.page_number, stamp.rect, names[stamp.signer_ref]) for stamp in planned.placements]
    fields = [(field.page_number, field.rect, field.given.label or field.given.name) for field in planned.fields]
    for page_number, at, name in [*named, *fields]:
        boxes.setdefault(page_number, []).append(PreviewBox(at.x, at.y, at.width, at.height, name))
    return [
        PreviewPage(width, height, tuple(boxes.get(number, ())))
        for number, (width, height) in enumerate(planned.document.pages, 1)
    ]
