"""The journal of a request in words, with the first openings of its pages: what happened, when, and who did it."""

from datetime import datetime
from typing import Any, NamedTuple

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.audit_trail.models import Entry, EventType
from paraph.signature_requests.models import RequestDocument, Signer
from paraph.tenants.models import Environment
from paraph.tenants.scope import TenantScope, scoped


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
    """Return what happened to one of the caller's requests, oldest first. ``signers`` have their first openings."""
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
    """Return the sentence about messages that nobody took."""
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
    """Return where a message is that nobody took, by its acknowledgement or by ``kept``, "" for one that a gateway
    acknowledged."""
    if not kept and not acknowledgement.startswith(_CAPTURED):
        return ""
    if environment == Environment.SANDBOX:
        return _("Kept in the sandbox inbox.")
    if channel == "sms":
        return _("Not sent: there was no SMS gateway.")
    return _("Not mailed: there was no mail server.")
