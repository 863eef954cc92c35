"""Signing (specification 3.2): one transaction from the used-up code to the next invitation."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction

from paraph.database.rows import update
from paraph.flow import events
from paraph.flow.complete import complete
from paraph.flow.lock import lock_signer
from paraph.journal.append import Origin
from paraph.kernel import clock
from paraph.otp import codes
from paraph.pdf.typesetting.simplified_strokes import simplified
from paraph.queue.defer import defer
from paraph.signature_requests import handwriting
from paraph.signature_requests.consent import consent_notice
from paraph.signature_requests.models import Mode, SignatureRequest, Signer, SignerStatus
from paraph.signature_requests.shown_pages import require_shown
from paraph.signature_requests.signed_documents import signed_digests
from paraph.signature_requests.signing_eligibility import next_signer, require_open


@dataclass(frozen=True)
class Signature:
    """What a signer hands in, already checked. ``signature`` and ``initials`` are ``{"type": "typed"}`` or
    ``{"type": "drawn", "strokes": [[[x, y], …], …]}`` with x and y in 0..1 from the top left; ``initials`` is None
    where the request wants none. The signer has accepted the consent notice of ``locale``."""

    code: str
    signature: dict[str, Any]
    initials: dict[str, Any] | None
    locale: str


def sign(signer: Signer, given: Signature, origin: Origin) -> Signer:
    """Returns the signer as signed, with ``request`` in its new state.

    Raises ``DomainError`` ``already_signed``, ``expired``, ``not_your_turn``, ``validation_error`` (a page cannot be
    shown), ``invalid_otp`` or ``too_many_attempts``. The attempt at the code counts even when the signature is then
    refused. The time is read once, under the lock: what is checked against the end of the request is what is stated.
    """
    require_open(signer)
    require_shown(signer)
    code_hash = codes.guess(signer, given.code)
    given = replace(
        given, signature=_simplified(given.signature), initials=given.initials and _simplified(given.initials)
    )
    with transaction.atomic():
        signer = lock_signer(signer.pk)
        moment = clock.now()
        require_open(signer, moment)
        codes.consume(signer, code_hash)
        _store(signer, given, moment)
        documents = len(signed_digests(signer))
        events.signer_signed(signer, consent_notice(given.locale, documents), documents, origin)
        _go_on(signer.request, moment)
    return signer


def _simplified(mark: dict[str, Any]) -> dict[str, Any]:
    """After the code has been looked at: the work is for those who have one."""
    if mark["type"] != "drawn":
        return mark
    return {**mark, "strokes": simplified(mark["strokes"], mark.get("aspect", 1.0))}


def _store(signer: Signer, given: Signature, moment: datetime) -> None:
    signer.status = SignerStatus.SIGNED
    signer.signed_at = moment
    signer.locale = given.locale
    handwriting.write(signer, given.signature, given.initials)
    update(signer, "status", "signed_at", "signature_encrypted", "initials_encrypted", "locale")


def _go_on(request: SignatureRequest, moment: datetime) -> None:
    """What follows a signature: the end of the request, or the turn of the next."""
    following = next_signer(request)
    if following is None:
        complete(request, moment)
    elif request.mode == Mode.SEQUENTIAL and request.send_email:
        defer("invite", signer_id=following)
