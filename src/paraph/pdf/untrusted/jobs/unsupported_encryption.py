"""The refusal of a file whose security handler the readers do not support."""

import re
from mmap import mmap

from paraph.pdf.refusal import PdfRefused

# ISO 32000-2, 7.6.5: public-key handlers are Adobe.PubSec, or have PKCS #7 data whatever their /Filter
_FOR_CERTIFICATES = re.compile(rb"/Filter\s*/Adobe\.PubSec\b|/SubFilter\s*/adbe\.pkcs7\.s[345]\b")


def unsupported_encryption(content: bytes | mmap) -> PdfRefused:
    """Return the refusal, which distinguishes encryption for certificates from unknown encryption."""
    if _FOR_CERTIFICATES.search(content):
        return PdfRefused(
            "encrypted_for_certificates",
            "The PDF is encrypted for certificates, so only their holders can open it.",
        )
    return PdfRefused("unknown_encryption", "The PDF is encrypted in a way that is not supported.")
