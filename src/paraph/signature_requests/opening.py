"""Noting when a signer's page was first opened."""

from paraph.database.prepared_statements import prepared_cursor
from paraph.kernel import clock
from paraph.signature_requests.models import Signer

_NOTE = """
    INSERT INTO signature_requests_firstopening (signer_id, opened_at, ip) VALUES (%s, %s, %s)
    ON CONFLICT (signer_id) DO NOTHING
"""


def note_opening(signer: Signer, ip: str) -> None:
    """Note the first opening of the page with the documents; later ones change nothing."""
    with prepared_cursor() as cursor:
        cursor.execute(_NOTE, [signer.pk, clock.now(), ip])
