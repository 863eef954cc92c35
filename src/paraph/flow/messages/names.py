"""Names that clients chose, as mails and SMS show them: short, and without anything that becomes a link."""

from collections.abc import Sequence

from django.utils.html import format_html
from django.utils.safestring import mark_safe

from paraph.documents.models import Document
from paraph.messaging.letters import Sentence, unlinked
from paraph.signature_requests.models import Signer
from paraph.signature_requests.signed_documents import documents_of
from paraph.words import listed

MAX_LENGTH = 80
_MOST_DOCUMENTS = 10
_MARKED = '<bdi><b style="display:inline-block;max-width:100%">{}</b></bdi>'  # a name is broken only where it must be
_PDF = ".pdf"  # no domain ends so: mail programs make no link of it


def signer_name(signer: Signer) -> str:
    return unlinked(signer.full_name, MAX_LENGTH)


def sender_name(signer: Signer, max_length: int = MAX_LENGTH) -> str:
    return unlinked(signer.request.organization.name, max_length)


def inviting_name(signer: Signer) -> str:
    """Return who asks for the signature: the member who sent the request, of which organization."""
    member, organization = signer.request.sent_by, sender_name(signer)
    name = unlinked(member.name, MAX_LENGTH) if member else ""
    return f"{name} ({organization})" if name and name != organization else organization


def document_names(signer: Signer, locale: str) -> tuple[int, Sentence]:
    """Return how many documents the signer signs, and the names of the first ten."""
    return listed_names(documents_of(signer), locale)


def listed_names(documents: Sequence[Document], locale: str) -> tuple[int, Sentence]:
    """Return how many documents there are, and the names of the first ten."""
    names = [document_name(document.name) for document in documents]
    shown = [*names[:_MOST_DOCUMENTS], *(["…"] if len(names) > _MOST_DOCUMENTS else [])]
    marked = [format_html(_MARKED, name) for name in shown]
    return len(names), Sentence(listed(shown, locale), mark_safe(listed(marked, locale)))  # noqa: S308  each is escaped


def document_name(name: str) -> str:
    stem = name[: -len(_PDF)] if name.lower().endswith(_PDF) else name
    shown = unlinked(stem, MAX_LENGTH)
    return f"{shown}{name[-len(_PDF) :]}" if shown and stem != name else unlinked(name, MAX_LENGTH)
