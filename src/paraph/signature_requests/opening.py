"""Noting when a signer's page was first opened."""

from paraph.kernel import clock
from paraph.signature_requests.models import FirstOpening, Signer


def note_opening(signer: Signer, ip: str) -> None:
    """Note the first opening of the page with the documents; later ones change nothing."""
    opening = FirstOpening(signer=signer, opened_at=clock.now(), ip=ip)
    FirstOpening.objects.bulk_create([opening], ignore_conflicts=True)
