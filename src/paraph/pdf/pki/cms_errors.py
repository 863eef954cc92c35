"""Why a CMS structure is not accepted."""

from paraph.pdf.pki.certificate import CertificateError
from paraph.pdf.pki.der import DerError


class CmsRefused(ValueError):
    """The structure cannot be read or its signature does not hold; the message is the reason."""


class CmsMismatch(CmsRefused):
    """The structure can be read, but the content at hand is not what was signed."""


def cannot_be_read(error: Exception) -> CmsRefused:
    """Turns what a reader raised into a refusal, with the reader's reason where it is a sentence for people."""
    readable = isinstance(error, DerError | CertificateError)
    return CmsRefused(f"the signature cannot be read ({error})" if readable else "the signature cannot be read")
