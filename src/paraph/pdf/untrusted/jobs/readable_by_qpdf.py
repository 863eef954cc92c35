"""A file in a form that qpdf reads, where it does not read the file as it is."""

from paraph.pdf.structure.recovery import recover
from paraph.pdf.structure.revision import Revision


def readable_by_qpdf(content: bytes) -> bytes:
    """With a cross-reference of all objects, and without an encryption that neither strings nor streams have: qpdf
    wants a password where attachments alone are encrypted. Raises :class:`~paraph.pdf.structure.objects.Unsafe` or
    ``SealError``."""
    reader = recover(content)
    if reader.encryption is not None and not (reader.encryption.strings or reader.encryption.streams):
        reader.encryption = None
        reader.trailer = {key: value for key, value in reader.trailer.items() if key != b"/Encrypt"}
    return content + bytes(Revision(reader).write().text)
