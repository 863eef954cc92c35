"""A variant of a file for qpdf, where qpdf cannot read the file as it is."""

from paraph.pdf.structure.recovery import recover
from paraph.pdf.structure.revision import Revision


def readable_by_qpdf(content: bytes) -> bytes:
    """Return the file with a cross-reference of all objects, and without an encryption that only attachments use.
    qpdf demands a password even if attachments alone are encrypted. Raises
    :class:`~paraph.pdf.structure.objects.Unsafe` or ``SealError``."""
    reader = recover(content)
    if reader.encryption is not None and not (reader.encryption.strings or reader.encryption.streams):
        reader.encryption = None
        reader.trailer = {key: value for key, value in reader.trailer.items() if key != b"/Encrypt"}
    return content + bytes(Revision(reader).write().text)
