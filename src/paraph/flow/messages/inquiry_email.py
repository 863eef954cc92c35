"""The mail that brings a signer's inquiry to the sender, in the language of the request.

What the signer wrote and every name is unlinked: the mail comes from the service and must not lead elsewhere.
"""

from django.utils.html import format_html

from paraph import words as catalog
from paraph.flow.messages.names import document_names, sender_name, signer_name
from paraph.flow.messages.written import written
from paraph.messaging.letters import EmailContent, Letter, Sentence, lay_out, say
from paraph.signature_requests.models import Inquiry, Signer
from paraph.tenants.branding import accent
from paraph.words import Words

_WHO = '<bdi><b>{}</b></bdi> <bdi style="display:inline-block;max-width:100%">({})</bdi><br><b>{}</b>'


def forwarded_name(inquiry_id: int) -> str:
    """Return the name under which the mail is sent once (:func:`paraph.flow.messages.sent_once.mail_once`)."""
    return f"inquiry-{inquiry_id}"


def inquiry_email(inquiry: Inquiry) -> EmailContent:
    """Write who asks, about which documents, and what."""
    signer, request = inquiry.signer, inquiry.signer.request
    words = catalog.of("mail", request.locale)
    kind = catalog.phrase(catalog.of("page", request.locale), f"ask_{inquiry.kind}")
    name, text = signer_name(signer), written(inquiry.text)
    return lay_out(
        Letter(
            locale=words["locale"],
            subject=f"{name}: {kind}",
            preview=text.text,
            sender=sender_name(signer),
            lines=[who(name, signer.email, kind), text],
            closing=[about(signer, words)],
            accent=accent(request.branding_profile),
        )
    )


def who(name: str, address: str, what: str) -> Sentence:
    """Return the line that says who does what."""
    html = format_html(_WHO, name, address, what)
    return Sentence(f"{name} ({address}): {what}", html)


def about(signer: Signer, words: Words) -> Sentence:
    """Return the line that names the signer's documents, and the number of the request."""
    count, names = document_names(signer, words["locale"])
    documents, number = say(words, "documents", count=count, names=names), signer.request_id
    html = format_html('{} <bdi dir="ltr">(#{})</bdi>', documents.html, number)
    return Sentence(f"{documents.text} (#{number})", html)
