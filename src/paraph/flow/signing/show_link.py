"""Show a member the address at which a signer signs."""

from django.db import transaction
from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.signature_requests.signing_eligibility import SigningEligibility, signing_eligibility
from paraph.signature_requests.signing_token import signing_url
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.scope import TenantScope, scoped


@transaction.atomic
def show_signing_link(scope: TenantScope, actor: Actor, request_id: int, signer_id: int) -> str:
    """Return the address at which a signer may sign now, and note who asked for it.

    Raise ``not_found``; ``already_signed``, ``expired``.
    """
    request = scoped(SignatureRequest, scope).filter(pk=request_id).first()
    signer = Signer.objects.select_related("request").filter(pk=signer_id, request=request).first()
    if request is None or signer is None:
        raise DomainError("not_found", _("There is no such signer."))
    eligibility = signing_eligibility(signer)
    if eligibility in (SigningEligibility.SIGNED, SigningEligibility.EXPIRED):
        raise DomainError(eligibility.value, _("This link no longer works: there is nothing left to sign."))
    subject = f"request {request_id}, signer {signer_id}"
    note(scope.organization_id, actor, Action.SIGNING_LINK_SHOWN, subject)
    return signing_url(signer)
