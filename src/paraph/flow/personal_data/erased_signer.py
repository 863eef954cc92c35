"""What stands in the place of an erased signer."""

from typing import Any

from paraph.signature_requests.models import ERASED_DOMAIN, Signer

FIRST_NAME, LAST_NAME = "Erased", "signer"


def pseudonym(signer: Signer) -> str:
    return f"signer-{signer.pk}{ERASED_DOMAIN}"


def update(row: Any, **values: object) -> int:
    """Change these columns of a row; return how many rows there were."""
    return int(type(row).objects.filter(pk=row.pk).update(**values))
