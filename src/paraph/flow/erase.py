"""Erasing the personal data of a signer (docs/decisions/erasure.md)."""

import json
from dataclasses import dataclass

from django.db import transaction

from paraph.flow.lock import lock_request
from paraph.journal.erase import erase_values
from paraph.kernel.errors import DomainError
from paraph.messaging.models import CapturedMessage
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.models import FirstOpening, Inquiry, Reminder, RequestStatus, SignatureRequest, Signer
from paraph.signature_requests.signing_token import new_salt
from paraph.webhooks.models import Attempt, Delivery

FIRST_NAME, LAST_NAME = "Erased", "signer"


@dataclass(frozen=True)
class Erased:
    """``journal_entries``: in how many entries of the journal values were replaced by this call."""

    organization_id: int
    request_id: int
    journal_entries: int


def erase_signer(signer_id: int) -> Erased:
    """Replaces name, address, number, IP and User-Agent of the signer by pseudonyms, in rows, journal and recorded
    webhooks, deletes signature, inquiries and captured messages, and ends the signing link.

    Sealed files and the proof are evidence and stay until retention deletes them. Safe to repeat. Raises
    ``DomainError``: ``not_found``, ``conflict`` while the request is not over.
    """
    request_id = Signer.objects.filter(pk=signer_id).values_list("request_id", flat=True).first()
    if request_id is None:
        raise DomainError("not_found", f"There is no signer {signer_id}.")
    with transaction.atomic():
        request = lock_request(request_id)
        _require_over(request)
        signer = Signer.objects.get(pk=signer_id)
        addresses = {signer.email, signer.phone} - {""}
        pseudonyms = dict.fromkeys(addresses, _address(signer_id))
        count = erase_values(request_id, signer_id, pseudonyms)
        _erase_messages(addresses)
        _erase_webhooks(signer)
        _erase_rows(signer)
    return Erased(request.organization_id, request_id, count)


def _require_over(request: SignatureRequest) -> None:
    if request.status == RequestStatus.PENDING:
        sentence = f"Request {request.pk} is not over: paraph request cancel ends it, then its signers can be erased."
        raise DomainError("conflict", sentence)
    if request.status == RequestStatus.COMPLETED and not request.finalized:
        raise DomainError("conflict", f"The files of request {request.pk} are not sealed yet: try again when they are.")


def _address(signer_id: int) -> str:
    return f"signer-{signer_id}@erased.invalid"


def _erase_rows(signer: Signer) -> None:
    Signer.objects.filter(pk=signer.pk).update(
        first_name=FIRST_NAME,
        last_name=f"{LAST_NAME} {signer.pk}",
        email=_address(signer.pk),
        phone="",
        token_salt=new_salt(),
        invitation=None,
        signature=None,
        initials=None,
        signature_encrypted=None,
        initials_encrypted=None,
    )
    Reminder.objects.filter(signer=signer).update(mail=None)
    OneTimeCode.objects.filter(signer=signer).update(destination="", destination_scope=None)
    FirstOpening.objects.filter(signer=signer).update(ip="")
    Inquiry.objects.filter(signer=signer).delete()


def _erase_messages(addresses: set[str]) -> None:
    """Captured messages to the signer; those of gateways are not kept."""
    CapturedMessage.objects.filter(to__in=addresses).delete()


def _erase_webhooks(signer: Signer) -> None:
    """Deliveries that were recorded, also those that still wait, and what receivers answered to them."""
    for delivery in Delivery.objects.filter(request=signer.request_id):
        content = json.loads(delivery.payload)
        told = content.get("signer")
        if not told or told["id"] != signer.pk:
            continue
        last_name = f"{LAST_NAME} {signer.pk}"
        content["signer"] |= {
            "first_name": FIRST_NAME,
            "last_name": last_name,
            "full_name": f"{FIRST_NAME} {last_name}",
            "email": _address(signer.pk),
        }
        payload = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        Delivery.objects.filter(pk=delivery.pk).update(payload=payload)
        Attempt.objects.filter(delivery=delivery).update(response="")
