"""Forget what signers entered into a request that ended before they signed."""

from paraph.signature_requests.models import SignatureRequest, Signer, SignerStatus


def forget_entries(request: SignatureRequest) -> None:
    """The caller ends the request in the same transaction, under its row lock."""
    unsigned = Signer.objects.filter(request=request, fields_encrypted__isnull=False).exclude(
        status=SignerStatus.SIGNED
    )
    unsigned.update(fields_encrypted=None)
