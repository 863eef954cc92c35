"""``/app/{o}/requests/{id}``: everything about a request, what a member can do with it, and beside its signers the
pages: as they were sealed; before that with the places of signers and what stands there already."""

import hashlib
import re
from collections import defaultdict
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import get_language

from paraph import words
from paraph.dashboard.decorators import member_page, show
from paraph.dashboard.requests.listing import own_request
from paraph.dashboard.requests.outcome import Outcome, actions, kept_note, outcome, timeline
from paraph.documents.models import Document
from paraph.evidence.models import SealedDocument
from paraph.flow.sending.invite import MOST_REMINDERS, reminded_lately
from paraph.otp.guesses import wrong_codes
from paraph.signature_requests.fields.entry import SignedField, signed_fields
from paraph.signature_requests.fields.kinds import shown_text
from paraph.signature_requests.models import (
    ERASED_DOMAIN,
    LARGE,
    Field,
    Inquiry,
    Placement,
    RequestDocument,
    RequestStatus,
    SignatureRequest,
    Signer,
    SignerStatus,
)
from paraph.signature_requests.signing import SigningEligibility, signing_eligibility
from paraph.tenants.members import Right, may
from paraph.tenants.models import Application, Environment, Member
from paraph.tenants.organizations import application_for_web
from paraph.tenants.scope import TenantScope
from paraph.webhooks.deliveries import for_request

_MOST_DELIVERIES = 100
_SHOWN = ("name", "file_deleted_at", "pages")  # of a document
_BY_OWNER = attrgetter("field.request_document_id", "field.signer_id")
_SOON, _SOMETIME = 3, 15  # seconds after which an open page asks again
_TOKENS = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"')  # another one at each call


@member_page(Right.SEE)
def request(request: HttpRequest, member: Member, request_id: int) -> HttpResponse:
    """Show the page; answer its own script with the part that changes, and with 204 while nothing has."""
    return request_page(request, member, request_id)


def request_page(request: HttpRequest, member: Member, request_id: int, problem: str = "") -> HttpResponse:
    """Return the page. ``problem``: why what the member asked for was refused; the page is then a 422."""
    scope, found = own_request(member, request_id)
    content = _content(scope, member, found)
    live = render_to_string("dashboard/requests/request_live.html", content, request)
    marks = [_mark(_TOKENS.sub("", live)), _pages_mark(found, content["signers"])]
    part = {"found": found, "live": live, "mark": "-".join(marks), "again_in": _again_in(found, content["outcome"])}
    seen = request.GET.get("seen", "").partition("-")
    is_part = request.headers.get("HX-Request") == "true"
    if is_part and seen[::2] == tuple(marks):
        return HttpResponse(status=204)
    if not is_part or seen[2] != marks[1]:
        part |= {"is_swapped": is_part, "sheets": content["sheets"]()}
    if is_part:
        return show(request, "requests/request_watched.html", part, member=member)
    part |= {"problem": problem, "heading": content["heading"]}
    return show(request, "requests/request.html", part, member=member, environment=found.environment)


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _pages_mark(found: SignatureRequest, rows: list[dict[str, Any]]) -> str:
    """Return a mark that changes whenever the pages look different."""
    states = [(row["signer"].pk, row["signer"].full_name, row["signer"].status) for row in rows]
    return _mark(f"{found.finalized} {found.files_deleted_at} {states}")


def _content(scope: TenantScope, member: Member, found: SignatureRequest) -> dict[str, Any]:
    hearing = found.application or application_for_web(found.organization_id, found.environment)
    signers = list(found.signers.defer(*LARGE).select_related("first_opening").prefetch_related("reminders"))
    documents = list(found.request_documents.prefetch_related(Prefetch("document", Document.objects.only(*_SHOWN))))
    rows = _signers(found, signers)
    fields = signed_fields([found.pk])[found.pk] if found.has_fields else []
    localized, people = words.of("proof", get_language() or "en"), {signer.pk: signer for signer in signers}
    is_gone = found.files_deleted_at or any(row.document.file_deleted_at for row in documents)
    texts = {each.field.pk: _field_text(each, people[each.field.signer_id], found, localized) for each in fields}
    return {
        "member": member,
        "organization": member.organization,
        "found": found,
        "metadata": list((found.metadata or {}).items()),  # a template would take a key "items" for the method
        "heading": found.title or ", ".join(row.document.name for row in documents),
        "outcome": outcome(found, signers),
        "signers": rows,
        "first_action": next(actions(member, found, rows), None),
        "sheets": partial(sheets, found, signers, documents, fields, texts),
        "inquiries": Inquiry.objects.filter(signer__request=found).select_related("signer").order_by("-asked_at"),
        "documents": _documents(found, documents),
        "fields": _fields(signers, documents, fields, texts),
        "copies": list(found.copies.defer("token_salt")),
        "is_ready": found.finalized and not found.files_deleted_at,
        "language": words.language_name(found.locale),
        "events": timeline(scope, found.pk, signers, documents, sender(found)),
        "sender": sender(found),
        "may_send": may(member.role, Right.SEND),
        "may_build": may(member.role, Right.BUILD),
        "can_be_kept": may(member.role, Right.SEND) and found.environment == Environment.PRODUCTION and not is_gone,
        "deliveries": _deliveries(scope, member, found, hearing),
        "hearing": hearing,
    }


def _again_in(found: SignatureRequest, state: Outcome) -> int:
    """Return the seconds after which an open page asks again; 0 where nothing more happens."""
    if state.is_under_way:
        return _SOON
    is_open = found.status == RequestStatus.PENDING or (found.status == RequestStatus.COMPLETED and not found.finalized)
    return _SOMETIME if is_open else 0


def sender(found: SignatureRequest) -> str:
    """Return the name of the member or the application that sent the request; "" where neither is known."""
    if found.application:
        return found.application.name
    return (found.sent_by.name or found.sent_by.email) if found.sent_by else ""


def _signers(found: SignatureRequest, signers: list[Signer]) -> list[dict[str, Any]]:
    wrong = wrong_codes(found.pk)
    waits = [signer.pk for signer in signers if signing_eligibility(signer) is SigningEligibility.NOT_YOUR_TURN]
    rows = []
    for signer in signers:
        eligibility = signing_eligibility(signer)
        reminders = signer.reminders.all()
        by_hand = sum(not each.automatic for each in reminders)
        acknowledgement = str((signer.invitation or {}).get("acknowledgement", ""))
        rows.append(
            {
                "signer": signer,
                "state_at": _state_at(found, signer),
                "has_viewed": hasattr(signer, "first_opening"),
                "is_next": eligibility is SigningEligibility.OPEN,
                "follows": signer.pk in waits[:1],
                "has_link": eligibility in (SigningEligibility.OPEN, SigningEligibility.NOT_YOUR_TURN),
                "kept": kept_note(acknowledgement, found.environment),
                "wrong_codes": wrong.get(signer.pk),
                "reminders": by_hand,
                "reminded_lately": reminded_lately(reminders) if eligibility is SigningEligibility.OPEN else "",
                "automatic_reminders": len(reminders) - by_hand,
                "can_be_reminded": eligibility is SigningEligibility.OPEN
                and (signer.notified_at is not None or (found.send_email and signer.undelivered))
                and by_hand < MOST_REMINDERS
                and not reminded_lately(reminders),
            }
        )
    return rows


def _state_at(found: SignatureRequest, signer: Signer) -> datetime | None:
    """Return when the signer reached the state that the page shows, None for a state that has no time."""
    if found.declined_by_id == signer.pk:
        return found.ended_early_at
    return signer.signed_at or (signer.first_opening.opened_at if hasattr(signer, "first_opening") else None)


def _documents(found: SignatureRequest, documents: list[RequestDocument]) -> list[dict[str, Any]]:
    done = found.finalized and not found.files_deleted_at
    sealed = SealedDocument.objects.select_related("shared").in_bulk(documents, field_name="request_document_id")
    return [{"row": row, "sealed": sealed.get(row.pk), "is_ready": done and row.pk in sealed} for row in documents]


def _deliveries(scope: TenantScope, member: Member, found: SignatureRequest, hearing: Application | None) -> Any:
    """Return the deliveries; None where the member may not see them, or there is no receiver and never was."""
    if not may(member.role, Right.BUILD):
        return None
    rows = list(for_request(scope, found.pk)[:_MOST_DELIVERIES])
    return rows if rows or hearing else None


def _fields(
    signers: list[Signer], documents: list[RequestDocument], fields: list[SignedField], texts: dict[int, str]
) -> dict[str, Any] | None:
    """Return a heading and the fields with what was signed, by signer and document; None where there are none."""
    if not fields:
        return None
    people = {signer.pk: signer for signer in signers}
    names = {row.pk: row.document.name for row in documents}
    groups = [
        {
            "signer": people[signer_id].full_name,
            "document": names[document_id],
            "rows": [{"label": each.field.label, "text": texts[each.field.pk]} for each in of_both],
        }
        for (document_id, signer_id), of_both in groupby(fields, _BY_OWNER)
    ]
    return {"heading": words.of("proof", get_language() or "en")["fields"], "groups": groups}


def _field_text(each: SignedField, signer: Signer, found: SignatureRequest, localized: words.Words) -> str:
    """Return what was signed as it is read, in the proof's words."""
    if isinstance(each.value, bool):
        return str(localized["ticked" if each.value else "unticked"])
    if each.value is None:
        is_gone = found.files_deleted_at or signer.email.endswith(ERASED_DOMAIN)  # nobody knows what was left empty
        return str(localized["left_empty"]) if signer.status == SignerStatus.SIGNED and not is_gone else ""
    return shown_text(each.field, each.value, found.locale)


_MOST_PAGES = 200  # of each document; the others are in its file
_COLOURS = 8  # that the stylesheet has


def sheets(
    found: SignatureRequest,
    signers: list[Signer],
    documents: list[RequestDocument],
    fields: list[SignedField],
    texts: dict[int, str],
) -> list[dict[str, Any]]:
    """Return each document that is still there, with its pages. ``texts``: what was signed, by the id of its field."""
    boxes: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    people = {signer.pk: signer for signer in signers}
    sealed = found.finalized and not found.files_deleted_at
    rows = {row.pk: row for row in documents if not row.document.file_deleted_at}
    placed: list[Placement | Field] = []
    if not sealed:
        placed = [*Placement.objects.filter(request_document__in=rows.values()), *(each.field for each in fields)]
    for at in placed:
        if row := rows.get(at.request_document_id):
            boxes[row.pk, at.page_number].append(_box(at, row, people[at.signer_id], texts))
    return [
        {
            "document": row.document,
            "more": max(len(row.document.pages) - _MOST_PAGES, 0),
            "pages": [
                {"number": number, "width": width, "height": height, "boxes": boxes[row.pk, number]}
                for number, (width, height) in enumerate(row.document.pages[:_MOST_PAGES], start=1)
            ],
        }
        for row in rows.values()
    ]


def _box(at: Placement | Field, row: RequestDocument, signer: Signer, texts: dict[int, str]) -> dict[str, Any]:
    """Return a place in points from the top left. ``stamp``: the placement whose signature stands there."""
    is_signed = signer.status == SignerStatus.SIGNED
    top = row.document.pages[at.page_number - 1][1] - at.y - at.height
    box = {"x": at.x, "y": top, "width": at.width, "height": at.height, "signer": signer, "is_signed": is_signed}
    box["colour"] = (signer.order - 1) % _COLOURS
    if isinstance(at, Placement):
        size = min(15.0, at.height * 0.5)
        text = {"text": signer.full_name, "stamp": at.pk if is_signed else None}
    else:
        size = min(at.font_size, at.height * 0.75)
        text = {"text": texts.get(at.pk, "") if is_signed else at.label}
    return box | text | {"size": size, "text_y": top + at.height / 2 + size * 0.35}
