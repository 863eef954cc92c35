"""How a request stands, what it waits for, and its journal in words, for its sender. What operators see is in
:mod:`paraph.operations.request_state`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.audit_trail.models import Entry, EventType
from paraph.evidence.failures import public_cause
from paraph.evidence.models import SealingFailure
from paraph.flow.messages import limits
from paraph.flow.messages.sent_once import mail_name
from paraph.flow.sending.invite import BETWEEN_REMINDERS
from paraph.kernel import clock
from paraph.messaging.gateways import EMAIL, SMS, has_gateway
from paraph.signature_requests.models import (
    Channel,
    Mode,
    RequestDocument,
    RequestStatus,
    SignatureRequest,
    Signer,
    SignerStatus,
)
from paraph.tenants.members import Right, may
from paraph.tenants.models import Environment, Member
from paraph.tenants.scope import TenantScope, scoped

_USUALLY = timedelta(minutes=5)  # a mail that goes out within this time worries nobody
_MOST_NAMES = 5


@dataclass(frozen=True)
class Outcome:
    """``tone``: the class of the notice. ``more``: what else is to be said. ``is_lost``: messages of the request reach
    nobody until a gateway is set up. ``is_under_way``: something happens within seconds, by itself."""

    sentence: str
    tone: str = ""
    more: list[str] = field(default_factory=list)
    is_lost: bool = False
    is_under_way: bool = False


def outcome(request: SignatureRequest, signers: list[Signer]) -> Outcome:
    """Return how the request stands; the signers are its own, in their order."""
    if request.status == RequestStatus.PENDING:
        return _pending(request, signers)
    if request.status == RequestStatus.EXPIRED:
        return Outcome(_ended(request, signers), "warning")
    if not request.finalized:
        return _being_sealed(request, signers)
    if request.files_deleted_at:
        day = date_format(request.files_deleted_at)
        return Outcome(f"{_all_signed(signers)} {_('Its files were deleted on %(day)s.') % {'day': day}}")
    return Outcome(f"{_all_signed(signers)} {_('The documents are sealed.')}", "success")


def _pending(request: SignatureRequest, signers: list[Signer]) -> Outcome:
    if clock.now() >= request.expires_at:
        return Outcome(_("The time to sign is over."), "warning", is_under_way=True)
    turn = in_turn(request, signers)
    if lost := _lost(request, turn):
        return Outcome(lost, "warning", [_progress(request, signers, turn)], is_lost=True)
    refused = [signer for signer in turn if signer.undelivered]
    late = [signer for signer in turn if request.send_email and not (signer.notified_at or signer.undelivered)]
    is_recent = clock.now() < _their_turn_began(request, signers) + _USUALLY
    more = _about_mails(late, is_recent=is_recent)
    if refused:
        sentence = _("Could not be delivered to %(names)s.") % {"names": names_of(refused, _MOST_NAMES)}
        what = _("We do not try again by ourselves. Correct the address or number, or send again if it is right.")
        return Outcome(sentence, "warning", [what, *more])
    return Outcome(_progress(request, signers, turn), "", more, is_under_way=bool(late) and is_recent)


def _lost(request: SignatureRequest, turn: list[Signer]) -> str:
    """Return a sentence on messages that no gateway brings to those who may sign now; "" where no gateway is missing.
    The sandbox keeps its messages for whoever tries it."""
    if request.environment == Environment.SANDBOX:
        return ""
    by_sms = [signer for signer in turn if signer.otp_channel == Channel.SMS]
    by_mail = turn if request.send_email else [signer for signer in turn if signer not in by_sms]
    if by_mail and not has_gateway(EMAIL):
        return _("No mail server is set up, so no mail reaches %(names)s.") % {"names": names_of(by_mail, _MOST_NAMES)}
    if by_sms and not has_gateway(SMS):
        return _("No SMS gateway is set up, so no code reaches %(names)s.") % {"names": names_of(by_sms, _MOST_NAMES)}
    return ""


def _progress(request: SignatureRequest, signers: list[Signer], turn: list[Signer]) -> str:
    signed = sum(signer.status == SignerStatus.SIGNED for signer in signers)
    facts = {"names": names_of(turn, _MOST_NAMES), "signed": signed, "count": len(signers)}
    if signed and any(signer.is_approver for signer in signers):
        return _("%(signed)d of %(count)d signed or approved. Waiting for %(names)s.") % facts
    if signed:
        return _("%(signed)d of %(count)d signed. Waiting for %(names)s.") % facts
    if not request.send_email or not has_gateway(EMAIL):
        return _("Ready to sign. Waiting for %(names)s.") % facts
    return _("Sent to %(names)s.") % facts


def names_of(signers: list[Signer], most: int) -> str:
    """Return the names of the signers; of many the first ``most``."""
    return ", ".join([*(signer.full_name for signer in signers[:most]), *(["…"] if len(signers) > most else [])])


def in_turn(request: SignatureRequest, signers: list[Signer]) -> list[Signer]:
    """Return who may sign now."""
    unsigned = [signer for signer in signers if signer.status != SignerStatus.SIGNED]
    return unsigned[:1] if request.mode == Mode.SEQUENTIAL else unsigned


def _their_turn_began(request: SignatureRequest, signers: list[Signer]) -> datetime:
    """Return when those who may sign now were to be invited."""
    signatures = [signer.signed_at for signer in signers if signer.signed_at]
    return max([request.created_at, *(signatures if request.mode == Mode.SEQUENTIAL else [])])


def _about_mails(late: list[Signer], *, is_recent: bool) -> list[str]:
    """Say what each invitation that is not out waits for, once it waits longer than usual."""
    if not has_gateway(EMAIL):
        return []
    names = {signer.pk: mail_name("invitation", signer.pk, turn=signer.replaced_links) for signer in late}
    put_off = limits.put_off(names.values())
    return [
        _("The invitation of %(name)s is delayed by the limits on messages until %(day)s UTC.")
        % {"name": signer.full_name, "day": date_format(noted.until, "DATETIME_FORMAT")}
        if (noted := put_off.get(names[signer.pk]))
        else _("The mail server has not accepted the invitation of %(name)s yet; we will retry automatically.")
        % {"name": signer.full_name}
        for signer in late
        if not is_recent or names[signer.pk] in put_off
    ]


def _ended(request: SignatureRequest, signers: list[Signer]) -> str:
    if request.declined_by_id:
        names = {signer.pk: signer.full_name for signer in signers}
        facts = {"name": names[request.declined_by_id], "reason": request.ended_reason}
        return _("%(name)s declined: “%(reason)s” Nobody can sign any more.") % facts
    if request.ended_early_at:
        return _("The request was withdrawn. Nobody can sign any more.")
    return _("It expired on %(day)s. Nobody can sign any more.") % {"day": date_format(request.expires_at)}


def _all_signed(signers: list[Signer]) -> str:
    approved = any(signer.is_approver for signer in signers)
    return _("Everyone has signed or approved.") if approved else _("Everyone has signed.")


def _being_sealed(request: SignatureRequest, signers: list[Signer]) -> Outcome:
    failure = SealingFailure.objects.filter(request=request).first()
    if failure is None:
        return Outcome(f"{_all_signed(signers)} {_('The documents are being sealed.')}", is_under_way=True)
    why = _("The documents are not sealed yet: %(cause)s") % {"cause": public_cause(failure)}
    return Outcome(f"{_all_signed(signers)} {why}", "warning")


class FirstAction(NamedTuple):
    """``kind``: ``download`` or ``duplicate``; with a ``signer``: ``sign``, where the signer is the member,
    ``correct``, ``link`` or ``remind``."""

    kind: str
    signer: Signer | None = None


def actions(member: Member, found: SignatureRequest, rows: Sequence[dict[str, Any]]) -> Iterator[FirstAction]:
    """Yield what the member can do, the most pressing action first. ``rows``: the signers as the page shows them."""
    if found.finalized and not found.files_deleted_at:
        yield FirstAction("download")
    if not may(member.role, Right.SEND):
        return
    is_over = found.status == RequestStatus.EXPIRED and not found.files_deleted_at
    if is_over and found.environment == Environment.PRODUCTION:
        yield FirstAction("duplicate")
    turn, own = [row for row in rows if row["is_next"]], member.user.email.lower()
    yield from (FirstAction("sign", row["signer"]) for row in turn if row["signer"].email.lower() == own)
    yield from (FirstAction("correct", row["signer"]) for row in turn if row["signer"].undelivered)
    for row in turn:
        if row["kept"] or not found.send_email or not has_gateway(EMAIL):
            yield FirstAction("link", row["signer"])
        mailed_at = row["signer"].notified_at
        if row["can_be_reminded"] and mailed_at and mailed_at + BETWEEN_REMINDERS <= clock.now():
            yield FirstAction("remind", row["signer"])


class Event(NamedTuple):
    """``note`` says that a message was not sent. ``reason`` is what somebody wrote, ``answer`` what a server said when
    it took a message, for those who operate it. Each is "" for nothing. ``actor`` is "" for the service itself."""

    moment: datetime
    sentence: str
    note: str
    reason: str
    answer: str
    actor: str
    ip: str


def timeline(
    scope: TenantScope, request_id: int, signers: list[Signer], documents: list[RequestDocument], sender: str
) -> list[Event]:
    """Return what happened to a request of the caller, oldest first. ``signers``: with their first openings loaded."""
    names = {signer.pk: signer.full_name for signer in signers}
    files = {row.document_id: row.document.name for row in documents}
    entries = scoped(Entry, scope).filter(request_id=request_id).order_by("position")
    events = [_event(entry, scope.environment, names, files, sender) for entry in entries]
    for signer in signers:
        if hasattr(signer, "first_opening"):
            name, opening = signer.full_name, signer.first_opening
            sentence = _("%(name)s opened the documents for the first time.") % {"name": name}
            # Before the first event that came later; the journal's own order stays, whatever its clocks say.
            later = (place for place, event in enumerate(events) if event.moment > opening.opened_at)
            opened = Event(opening.opened_at, sentence, "", "", "", name, opening.ip)
            events.insert(next(later, len(events)), opened)
    return events


def _event(entry: Entry, environment: str, names: dict[int, str], files: dict[int, str], sender: str) -> Event:
    facts, name = entry.metadata, names.get(entry.signer_id or 0, "")
    until = facts.get("extended_to")
    blanks = {
        "kept": facts.get("kept", 0),
        "count": len(facts.get("recipients", ())),
        "name": name,
        "recipient": facts.get("recipient", ""),
        "file": files.get(facts.get("document_id", 0), ""),
        "corrected": ", ".join(str(_CORRECTED.get(each, each)) for each in facts.get("corrected", ())),
        "until": date_format(datetime.fromisoformat(until), "DATETIME_FORMAT") if until else "",
    }
    by_signer = entry.event_type in _BY_SIGNER or facts.get("declined")
    actor = sender if entry.event_type in _BY_SENDER else name if by_signer else ""
    acknowledgement = str(facts.get("acknowledgement") or "")
    note = kept_note(acknowledgement, environment, str(facts.get("provider") or ""), kept="kept" in facts)
    sentence = _kept_sentence(entry.event_type, facts) if note else _sentence(entry.event_type, facts)
    answer, reason = "" if note else acknowledgement, str(facts.get("reason") or facts.get("answer") or "")
    return Event(entry.created_at, sentence % blanks, note, reason, answer, actor, entry.ip)


def _sentence(event_type: str, facts: dict[str, Any]) -> str:
    particular = (sentence for event, fact, sentence in _PARTICULAR if event == event_type and facts.get(fact))
    return str(next(particular, _SENTENCES.get(event_type, event_type)))


def _kept_sentence(event_type: str, facts: dict[str, Any]) -> str:
    """Return the sentence about messages that no gateway took."""
    if event_type == EventType.COMPLETION_NOTIFIED:
        if facts.get("copies"):
            return _("Copies that were not mailed: %(kept)d of %(count)d.")
        return _("Mails about the completion that were not sent: %(kept)d of %(count)d.")
    if event_type == EventType.OTP_SENT:
        return _("A code for %(name)s at %(recipient)s was not sent.")
    if facts.get("reminder"):
        return _("The reminder of %(name)s was not mailed.")
    return _("The invitation of %(name)s was not mailed.")


_CORRECTED = {
    "first_name": gettext_lazy("First name"),
    "last_name": gettext_lazy("Last name"),
    "email": gettext_lazy("E-mail"),
    "phone": gettext_lazy("Phone"),
    "otp_channel": gettext_lazy("Send code by"),
    "language": gettext_lazy("Language"),
}
_BY_SENDER = (EventType.CREATED, EventType.IDENTITY_DECLARED, EventType.CORRECTED, EventType.EXTENDED)
_BY_SIGNER = (EventType.OTP_SENT, EventType.SIGNED)
_PARTICULAR = (  # where the metadata have a fact; the first that fits
    (EventType.SIGNER_NOTIFIED, "reminder", gettext_lazy("%(name)s was reminded.")),
    (EventType.SIGNED, "in_person", gettext_lazy("%(name)s signed in person, on the device of a member.")),
    (EventType.SIGNED, "role", gettext_lazy("%(name)s approved.")),
    (EventType.COMPLETION_NOTIFIED, "copies", gettext_lazy("Copies were mailed: %(count)d.")),
    (EventType.EXPIRED, "declined", gettext_lazy("%(name)s declined, and the request ended.")),
    (EventType.EXPIRED, "ended_early", gettext_lazy("The request was withdrawn.")),
    (EventType.PADES_SIGNED, "timestamped", gettext_lazy("%(file)s was sealed, with a timestamp.")),
)
_SENTENCES: dict[str, Any] = {
    EventType.CREATED: gettext_lazy("The request was created."),
    EventType.IDENTITY_DECLARED: gettext_lazy("The sender confirmed the signers' identity."),
    EventType.SIGNER_NOTIFIED: gettext_lazy("%(name)s was invited."),
    EventType.DELIVERY_FAILED: gettext_lazy("A message to %(recipient)s was refused."),
    EventType.CORRECTED: gettext_lazy("%(name)s was corrected: %(corrected)s."),
    EventType.EXTENDED: gettext_lazy("Signers got more time: until %(until)s UTC."),
    EventType.OTP_SENT: gettext_lazy("A code was sent to %(name)s at %(recipient)s."),
    EventType.SIGNED: gettext_lazy("%(name)s signed."),
    EventType.COMPLETED: gettext_lazy("Everyone has signed."),
    EventType.COMPLETION_NOTIFIED: gettext_lazy("The signers were told that it is completed."),
    EventType.EXPIRED: gettext_lazy("The request expired."),
    EventType.PADES_SIGNED: gettext_lazy("%(file)s was sealed."),
    EventType.CERTIFICATE_ISSUED: gettext_lazy("The proof was issued."),
}


_CAPTURED = "captured:"


def kept_note(acknowledgement: str, environment: str, channel: str = "email", *, kept: bool = False) -> str:
    """Return where a message is that no gateway took, as its acknowledgement or ``kept`` tells; "" for one that a
    gateway acknowledged."""
    if not kept and not acknowledgement.startswith(_CAPTURED):
        return ""
    if environment == Environment.SANDBOX:
        return _("Kept in the sandbox inbox.")
    if channel == "sms":
        return _("Not sent: there was no SMS gateway.")
    return _("Not mailed: there was no mail server.")
