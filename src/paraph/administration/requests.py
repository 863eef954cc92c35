"""What members and operators do with requests that were sent: ended early, a signing link shown, a signer erased, lists
exported."""

from django.db import transaction
from django.utils.translation import gettext as _

from paraph.flow.ending import end_early as ending
from paraph.flow.personal_data import erase
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.signature_requests.signing_eligibility import SigningEligibility, signing_eligibility
from paraph.signature_requests.signing_token import signing_url
from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import Actor
from paraph.tenants.admin_log.log import note
from paraph.tenants.scope import Caller, scoped


def end_own_early(caller: Caller, actor: Actor, request_id: int, reason: str) -> None:
    """Ends one of the caller's requests. Raises what :func:`paraph.flow.ending.end_early.end_early` raises."""
    if not scoped(SignatureRequest, caller).filter(pk=request_id).exists():
        raise DomainError("not_found", _("There is no such request."))
    end_early(actor, request_id, reason)


@transaction.atomic
def end_early(actor: Actor, request_id: int, reason: str) -> SignatureRequest:
    """Ends any request. Raises what :func:`paraph.flow.ending.end_early.end_early` raises."""
    ended = ending.end_early(request_id, reason)
    note(ended.organization_id, actor, Action.REQUEST_ENDED_EARLY, f"request {request_id}", after={"reason": reason})
    return ended


@transaction.atomic
def erase_signer(actor: Actor, signer_id: int) -> erase.Erased:
    """Replaces a signer's personal data. Raises what :func:`paraph.flow.personal_data.erase.erase_signer` raises."""
    erased = erase.erase_signer(signer_id)
    about = {"request_id": erased.request_id, "signer_id": signer_id}
    note(erased.organization_id, actor, Action.SIGNER_ERASED, f"signer {signer_id}", after=about)
    return erased


@transaction.atomic
def erase_address(actor: Actor, address: str) -> erase.ErasedAddress:
    """Erase what is kept of an address outside of requests. Raises what
    :func:`paraph.flow.personal_data.erase.erase_address` raises.

    The activity log says that somebody was erased and not who: nothing in it can be erased.
    """
    erased = erase.erase_address(address)
    for organization_id in erased.organization_ids:
        note(organization_id, actor, Action.ADDRESS_ERASED)
    return erased


@transaction.atomic
def show_signing_link(caller: Caller, actor: Actor, request_id: int, signer_id: int) -> str:
    """Returns the address at which a signer may sign now, and notes who asked for it.

    Raises ``not_found``; ``already_signed``, ``expired``.
    """
    request = scoped(SignatureRequest, caller).filter(pk=request_id).first()
    signer = Signer.objects.select_related("request").filter(pk=signer_id, request=request).first()
    if request is None or signer is None:
        raise DomainError("not_found", _("There is no such signer."))
    eligibility = signing_eligibility(signer)
    if eligibility in (SigningEligibility.SIGNED, SigningEligibility.EXPIRED):
        raise DomainError(eligibility.value, _("This link leads nowhere any more: nothing is left to sign."))
    subject = f"request {request_id}, signer {signer_id}"
    note(caller.organization_id, actor, Action.SIGNING_LINK_SHOWN, subject)
    return signing_url(signer)


def note_export(organization_id: int, actor: Actor, asked: dict[str, str]) -> None:
    """Note that requests were exported, and by which filters they were chosen. Words that were searched may be a name,
    which could never be erased here: it is noted that there were some."""
    searched = {"q": "…"} if "q" in asked else {}
    with transaction.atomic():
        note(organization_id, actor, Action.REQUESTS_EXPORTED, after=asked | searched)
