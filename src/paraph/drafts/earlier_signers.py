"""Signers of an organization's latest requests, to be chosen again."""

from paraph.signature_requests.models import ERASED_DOMAIN, SignatureRequest, Signer
from paraph.tenants.scope import TenantScope, scoped

_REQUESTS = 200
_MOST = 100


def earlier_signers(scope: TenantScope) -> list[Signer]:
    """Return one signer for each address, the latest first; those that were erased have none."""
    latest = scoped(SignatureRequest, scope).order_by("-created_at", "-pk").values_list("pk", flat=True)[:_REQUESTS]
    rows = Signer.objects.filter(request_id__in=list(latest)).only("first_name", "last_name", "email", "phone")
    signers: dict[str, Signer] = {}
    for signer in rows.exclude(email__endswith=ERASED_DOMAIN).order_by("-pk"):
        signers.setdefault(signer.email.lower(), signer)
    return list(signers.values())[:_MOST]
