"""The mail that brings a signer's inquiry to the sender, in the language of the request.

What the signer wrote and every name is unlinked: the mail comes from the service and must not lead elsewhere.
"""

from html import escape

from paraph import words as catalog
from paraph.flow.messages.layout import EmailContent
from paraph.messaging.unlinked import unlinked
from paraph.signature_requests.models import Inquiry

_MAX_NAME_LENGTH = 80
_MAX_LINE_LENGTH = 2500  # the longest inquiry fits, with the spaces that break up its addresses


def inquiry_email(inquiry: Inquiry) -> EmailContent:
    """Writes who asks, about which documents, and what."""
    signer, request = inquiry.signer, inquiry.signer.request
    kind = catalog.phrase(catalog.of("page", request.locale), f"ask_{inquiry.kind}")
    name = unlinked(signer.full_name, _MAX_NAME_LENGTH)
    names = [row.document.name for row in request.request_documents.select_related("document").order_by("position")]
    listed = ", ".join(unlinked(each, _MAX_NAME_LENGTH) for each in names)
    about = catalog.phrase(catalog.of("mail", request.locale), "documents", count=len(names), names=listed)
    written = [unlinked(line, _MAX_LINE_LENGTH) for line in inquiry.text.split("\n")]
    head, tail = f"{name} ({signer.email}): {kind}", f"{about} (#{request.pk})"
    text = "\n\n".join([head, "\n".join(written), tail]) + "\n"
    html = (
        '<div style="font:16px/1.5 sans-serif;max-width:34em">'
        f"<p><strong>{escape(head)}</strong></p><p>{'<br>'.join(map(escape, written))}</p>"
        f'<p style="font-size:14px">{escape(tail)}</p></div>'
    )
    return EmailContent(f"{name}: {kind}", text, html)
