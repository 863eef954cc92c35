"""The mail with a copy, to somebody who has not signed, in the language of the request."""

from django.utils.html import format_html

from paraph import words as catalog
from paraph.documents.models import Document
from paraph.flow.messages.names import MAX_LENGTH, document_name, listed_names
from paraph.messaging.letters import EmailContent, Letter, Sentence, lay_out, plain, say, unlinked
from paraph.signature_requests.localized import full_name
from paraph.signature_requests.models import CopyRecipient
from paraph.signature_requests.tickets import copy_url
from paraph.tenants.branding import accent, logo_picture

_MOST_LINKS = 10  # the page that the mail leads to has all of them
_LINK = '<a href="{}" style="color:inherit"><bdi>{}</bdi></a>'


def copy_email(recipient: CopyRecipient) -> EmailContent:
    """Write who sends which documents, with a new link to each sealed file and to the proof."""
    request = recipient.request
    words, sender = catalog.of("mail", request.locale), unlinked(request.organization.name, MAX_LENGTH)
    rows = request.request_documents.select_related("document").order_by("position")
    documents = [row.document for row in rows]
    url, until = copy_url(recipient)
    count, names = listed_names(documents, words["locale"])
    name = unlinked(full_name(recipient.first_name, recipient.last_name, request.locale), MAX_LENGTH)
    about = say(words, "documents", count=count, names=names)
    return lay_out(
        Letter(
            locale=words["locale"],
            subject=catalog.phrase(words, "copies_subject", sender=sender),
            preview=about.text,
            sender=sender,
            lines=[
                say(words, "hello", name=name),
                say(words, "copies", sender=sender),
                *([about] if len(documents) > _MOST_LINKS else []),
                *(_link(document_name(each.name), _address(url, each)) for each in documents[:_MOST_LINKS]),
                _link(catalog.of("proof", request.locale)["title"], f"{url}/proof.pdf"),
            ],
            closing=[
                say(words, "copies_until", until=plain(catalog.moment(until, words["locale"]))),
                say(words, "personal"),
            ],
            action=(words["copies_open"], url),
            accent=accent(request.branding_profile),
            logo=logo_picture(request.branding_profile),
        )
    )


def _address(url: str, document: Document) -> str:
    return f"{url}/documents/{document.pk}.pdf"


def _link(name: str, address: str) -> Sentence:
    return Sentence(f"{name}: {address}", format_html(_LINK, address, name))
