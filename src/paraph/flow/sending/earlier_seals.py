"""Seals that an upload brought along, and whether it was altered after them."""

from typing import BinaryIO

from django.conf import settings

from paraph.flow.sealing.context import key_folder
from paraph.keys.trusted_roots import trusted_roots
from paraph.pdf.untrusted.verify import altered_seals

_SIGNED = b"/ByteRange"  # stands in the clear in every file with a signature
_PIECE = 1 << 20
_MOST_NAMES = 10


def altered(file: BinaryIO) -> list[str]:
    """Return the names of at most ten trusted seals after which an upload was altered, also by signatures that are not
    trusted or cannot be read. Raises :class:`~paraph.pdf.refusal.ReadersUnavailable`."""
    if not _is_signed(file):
        return []
    return altered_seals(file, trusted_roots(settings.PARAPH, key_folder()))[:_MOST_NAMES]


def _is_signed(file: BinaryIO) -> bool:
    file.seek(0)
    end = b""
    while piece := file.read(_PIECE):
        if _SIGNED in end + piece:
            return True
        end = piece[-len(_SIGNED) :]
    return False
