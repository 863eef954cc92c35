"""Send a signer a one-time code, within the HTTP request of whoever waits for it (rule 4.11), keep what they enter,
record the signature, and complete the request with the last one."""

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction

from paraph.audit_trail.journal import Origin
from paraph.database.rows import insert
from paraph.flow import events
from paraph.flow.events import lock_holder, lock_signer
from paraph.flow.messages import emails
from paraph.flow.messages.limits import counted, message_about
from paraph.flow.messages.sent_once import delivering, note_undelivered
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.places import machine_of_others
from paraph.messaging.email import send_email
from paraph.messaging.gateways import has_gateway, is_refused
from paraph.messaging.sms import send_sms
from paraph.otp import codes, guesses
from paraph.pdf.typesetting.strokes import has_ink, simplified
from paraph.queue.jobs import defer, job
from paraph.signature_requests import marks
from paraph.signature_requests.fields import entry as field_values
from paraph.signature_requests.fields.entry import Entry, FilledField, Values, with_entries
from paraph.signature_requests.fields.kinds import known_value
from paraph.signature_requests.localized import consent_notice, translated
from paraph.signature_requests.models import Channel, Mode, RequestStatus, SignatureRequest, Signer, SignerStatus
from paraph.signature_requests.signing import listed, next_signer, require_open, require_shown
from paraph.tenants.models import Environment
from paraph.tenants.scope import tenant_key
from paraph.words import of

log = logging.getLogger("paraph.flow")


@dataclass(frozen=True)
class SentCode:
    """A code on its way. ``recipient``: where it goes, masked. ``is_kept``: nothing sends it. ``sandbox_code`` is the
    code itself, None in production (rule 4.11)."""

    recipient: str
    channel: str
    is_kept: bool
    sandbox_code: str | None


def send_otp(signer: Signer, channel: str, origin: Origin, locale: str = "") -> SentCode:
    """Issue a code, hand it to the gateway and log that. ``locale`` is the language of the message, by default
    the request's.

    Raise ``DomainError`` as :func:`require_open` does, ``validation_error`` for a channel that is not the signer's,
    ``too_many_attempts`` while no code would be taken, ``rate_limited`` after 5 codes in 10 minutes or at a ceiling of
    messages. Raise ``delivery_failed`` where nothing sends it (:func:`paraph.messaging.gateways.is_refused`), and when
    the gateway does not take the message, which counts nowhere, leaves an earlier code valid, and is journaled only
    where the recipient is refused for good. Raise ``unavailable`` before anything is done while no more threads may
    wait (:mod:`paraph.kernel.places`).
    """
    require_open(signer)
    chosen, recipient = codes.destination(signer, channel)
    if is_refused(signer.request.environment, chosen):
        log.error("no code is sent: no gateway for %s is set", chosen.value)
        raise translated("delivery_failed", "no_sms_gateway" if chosen == Channel.SMS else "no_mail_server")
    guesses.require_open(signer, recipient)  # before the ceilings of messages, whose time is over earlier
    place = machine_of_others(tenant_key(signer.request)) if has_gateway(chosen) else nullcontext()
    message = message_about(signer.request, chosen, recipient)
    with place, counted(message, waits=False), codes.handed_over(signer, chosen, recipient) as issued:
        acknowledgement = _deliver(signer, chosen, recipient, issued.code, locale, withheld=message.withheld)
    with transaction.atomic():
        signer = lock_signer(signer.pk)
        codes.mark_sent(signer, issued)
        if (signer.undelivered or {}).get("mail") == f"code-{chosen.value}":
            signer.undelivered = None
            signer.save(update_fields=["undelivered"])
        events.otp_sent(signer, chosen, recipient, resend=issued.resend, acknowledgement=acknowledgement, origin=origin)
    sandbox = signer.request.environment == Environment.SANDBOX
    return SentCode(masked(recipient), chosen, is_kept(signer, chosen), issued.code if sandbox else None)


def is_kept(signer: Signer, channel: str) -> bool:
    """Return whether the signer's codes stay with the service, since nothing sends them. The sandbox shows its own."""
    return signer.request.environment == Environment.PRODUCTION and not has_gateway(channel)


def _deliver(signer: Signer, channel: Channel, recipient: str, code: str, locale: str, *, withheld: bool) -> str:
    sentence = "The code could not be sent; try again in a moment."
    refused = partial(note_undelivered, signer, f"code-{channel.value}", channel=channel)
    with delivering(channel.value, "code", sentence, refused):
        if channel == Channel.SMS:
            return send_sms(recipient, emails.one_time_code_sms(signer, code, locale), withheld=withheld)
        return send_email(recipient, emails.one_time_code(signer, code, locale), withheld=withheld)


def masked(recipient: str) -> str:
    """Mask an address or number: its owner recognises it, others cannot learn it."""
    name, at, domain = recipient.rpartition("@")
    return f"{name[0]}•••@{domain}" if at and name else f"•••{recipient[-2:]}"


_KEPT = ("signature_encrypted", "initials_encrypted", "fields_encrypted")
_SIGNED = ("status", "signed_at", "locale", "undelivered", *_KEPT)


def enter_fields(signer: Signer, entries: Sequence[Entry]) -> Values:
    """Keep the entries, right or wrong, beside those from before, and return all of them. Raise ``DomainError`` as
    :func:`require_open` and :func:`lock_holder` do: only who may sign enters anything."""
    with transaction.atomic():
        locked = lock_holder(signer)  # two devices at once lose none of each other's entries
        require_open(locked)
        typed = with_entries(field_values.values_of(locked), entries)
        field_values.write(locked, typed)
        locked.save(update_fields=["fields_encrypted"])
    signer.fields_encrypted = locked.fields_encrypted
    return typed


class NoInkError(DomainError):
    """A drawing has no line. ``field`` is "signature" or "initials"."""

    def __init__(self, field: str) -> None:
        sentence = f"{field}: there is no line in the drawing; draw it again or use the name."
        super().__init__("validation_error", sentence)
        self.field = field


def require_ink(signature: dict[str, Any] | None, initials: dict[str, Any] | None) -> None:
    """Raise :class:`NoInkError` for a drawing in which nothing would be seen, as of a single tap."""
    for field, mark in (("signature", signature), ("initials", initials)):
        if mark and mark["type"] == "drawn" and not has_ink(mark["strokes"], mark.get("aspect", 1.0)):
            raise NoInkError(field)


def complete(request: SignatureRequest, moment: datetime) -> None:
    """Mark the request ``completed`` at the moment of the last signature, log that and defer one job per document,
    which seals it. The caller holds the request's row lock and has seen under it that everybody signed, so that this
    happens once, in the transaction of the last signature."""
    request.status = RequestStatus.COMPLETED
    request.completed_at = moment
    request.save(update_fields=["status", "completed_at"])
    events.request_completed(request)
    mails = [job("notify_completion", request_id=request.pk)] if request.notify_signers_on_completion else []
    rank = _unsealed(request)
    rows = request.request_documents.values_list("pk", flat=True)
    insert([*mails, *(job("finalize", rank=rank, request_document_id=pk) for pk in rows)])


def _unsealed(request: SignatureRequest) -> int:
    """Return how many other requests of the tenant wait for their seals, so that a tenant with few does not stand
    behind one with many."""
    own = SignatureRequest.objects.filter(organization=request.organization_id, environment=request.environment)
    return own.filter(status=RequestStatus.COMPLETED, finalized=False).exclude(pk=request.pk).count()


@dataclass(frozen=True)
class Signature:
    """The checked input of a signer, who has accepted the consent notice of ``locale``. ``code`` is None in a sandbox
    act, which needs none.

    ``signature`` and ``initials`` are ``{"type": "typed"}`` or ``{"type": "drawn", "strokes": [[[x, y], …], …]}`` with
    x and y in 0..1 from the top left; ``initials`` is None where the request wants none, and both are None for an
    approver, who draws nothing. ``fields``: all fields of the signer, those that the service fills without a value.
    ``member_id``: of the member on whose device the signer signed in person, else None. ``disclosure``: the version of
    the ESIGN disclosure that the signer accepted, "" where none was shown.
    """

    code: str | None
    signature: dict[str, Any] | None
    initials: dict[str, Any] | None
    locale: str
    fields: tuple[FilledField, ...] = ()
    member_id: int | None = None
    disclosure: str = ""


def shown_disclosure(signer: Signer) -> str:
    """Return the version of the disclosure of the US ESIGN Act (15 U.S.C. 7001(c)) that the signer is shown before they
    consent; "" where the organization shows none."""
    return str(of("esign", "en")["version"]) if signer.request.organization.esign_disclosure else ""


def sign(signer: Signer, signature: Signature, origin: Origin) -> Signer:
    """Sign for the signer and return the signer as signed, with ``request`` in its new state.

    Raise ``DomainError`` ``already_signed``, ``expired``, ``not_your_turn``, ``validation_error`` (a page cannot be
    shown, a drawing has no ink), ``invalid_otp``, ``too_many_attempts`` or ``replaced``. Once the code is checked, the
    attempt counts even when the signature is then refused. The time is read once, under the lock, so that ``signed_at``
    is the moment that was checked against ``expires_at``.
    """
    require_open(signer)
    require_shown(signer)
    require_ink(signature.signature, signature.initials)
    code_hash = None if signature.code is None else codes.guess(signer, signature.code)
    signature = replace(signature, signature=_simplified(signature.signature), initials=_simplified(signature.initials))
    with transaction.atomic():
        signer = lock_holder(signer)
        moment = clock.now()
        require_open(signer, moment)
        if code_hash is not None:
            codes.consume(signer, code_hash)
        elif signer.request.environment != Environment.SANDBOX:
            raise DomainError("invalid_otp", "Nobody signs without a code.")
        fields = _store(signer, signature, moment)
        documents = listed(signer).count()
        notice = consent_notice(signature.locale, documents, signature.disclosure, approves=signer.is_approver)
        by_act, member_id = code_hash is None, signature.member_id
        events.signer_signed(signer, notice, documents, origin, fields=fields, member_id=member_id, sandbox_act=by_act)
        _continue(signer.request, moment)
    return signer


def _simplified(mark: dict[str, Any] | None) -> dict[str, Any] | None:
    """Simplify the strokes of a drawing. This costs time, so it comes after the code was checked."""
    if mark is None or mark["type"] != "drawn":
        return mark
    return {**mark, "strokes": simplified(mark["strokes"], mark.get("aspect", 1.0))}


def _store(signer: Signer, signature: Signature, moment: datetime) -> list[dict[str, Any]]:
    """Store what was signed, and return each value as the journal has it."""
    signer.status, signer.signed_at, signer.locale = SignerStatus.SIGNED, moment, signature.locale
    signer.undelivered = None
    marks.keep_marks(signer, signature.signature, signature.initials)
    final = [FilledField(field, known_value(field, signer) or value) for field, value in signature.fields]
    if final:
        field_values.write(signer, {field.pk: value for field, value in final if value is not None})
    signer.save(update_fields=_SIGNED)
    return [field_values.facts_of(field) | {"value": value} for field, value in final]


def _continue(request: SignatureRequest, moment: datetime) -> None:
    """Complete the request after the last signature, else invite the next signer of a sequence."""
    next_id = next_signer(request)
    if next_id is None:
        complete(request, moment)
    elif request.mode == Mode.SEQUENTIAL and request.send_email:
        defer("invite", signer_id=next_id)


def sandbox_sign(
    signer: Signer, mark: dict[str, Any] | None, origin: Origin, fields: tuple[FilledField, ...] = ()
) -> None:
    """Sign as the signer's page does, without a code: none is sent, and nobody has to receive one. The consent notice
    is accepted in the signer's language, and initials, where the request wants them, are those of the name. ``mark`` is
    a signature, None for an approver, and ``fields`` are all fields of the signer, as :class:`Signature` has them.
    Raise what :func:`sign` raises before it looks at a code."""
    request = signer.request
    initials = {"type": "typed"} if request.initials_required and mark else None
    locale, disclosure = signer.locale or request.locale, shown_disclosure(signer)
    sign(signer, Signature(None, mark, initials, locale, fields, disclosure=disclosure), origin)
