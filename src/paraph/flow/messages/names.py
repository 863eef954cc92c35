"""Names that clients chose and what people wrote, as mails and SMS show them: without anything that becomes a link."""

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe

from paraph.documents.models import Document
from paraph.messaging.email import service_name
from paraph.messaging.letters import Sentence, unlinked
from paraph.signature_requests.models import CopyRecipient, SignatureRequest, Signer
from paraph.tenants.models import Member
from paraph.words import listed

MAX_LENGTH = 80
_MOST_DOCUMENTS = 10
_MARKED = '<bdi><b style="display:inline-block;max-width:100%">{}</b></bdi>'  # a name is broken only where it must be
_PDF = ".pdf"  # no domain ends so: mail programs make no link of it


def signer_name(signer: Signer | CopyRecipient) -> str:
    return unlinked(signer.full_name, MAX_LENGTH)


def sender_name(request: SignatureRequest, max_length: int = MAX_LENGTH) -> str:
    return unlinked(request.organization.name, max_length)


def inviting_name(signer: Signer) -> str:
    """Return who asks for the signature: the member who sent the request, of which organization."""
    name, organization = _member_name(signer.request), sender_name(signer.request)
    return f"{name} ({organization})" if name else organization


def from_name(request: SignatureRequest) -> str:
    """Return whom mails to those who take part come from: the member who sent the request, by way of the organization;
    of a request by API, the organization, by way of the service."""
    name, organization = _member_name(request), sender_name(request)
    return " via ".join(filter(None, (name, organization) if name else (organization, service_name())))


def _member_name(request: SignatureRequest) -> str:
    """Return who sent the request; "" where no member did, or one who is named as the organization is."""
    name = unlinked(request.sent_by.name, MAX_LENGTH) if request.sent_by else ""
    return "" if name == sender_name(request) else name


def sender_language(request: SignatureRequest) -> str:
    """Return the language of the member who sent the request: the account's, else that in which they were last here;
    the request's where no member did, or none is known."""
    user = request.sent_by
    if user is None:
        return request.locale
    member = Member.objects.filter(user=user, organization=request.organization_id).first()
    return user.language or (member.last_language if member else "") or request.locale


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


_MAX_LINE_LENGTH = 15_000  # the longest message fits, with the spaces that break up its addresses
_BOX = (
    '<span class="quiet" style="display:block;padding:12px 16px;border:1px solid #d9deea;border-radius:8px">{}</span>'
)


def written(text: str) -> Sentence:
    """Return the text line by line, each in the direction of its script."""
    lines = [unlinked(line, _MAX_LINE_LENGTH) for line in text.split("\n")]
    html = format_html_join(
        "", '<span dir="auto" style="display:block">{}</span>', ((line or "\u00a0",) for line in lines)
    )
    return Sentence("\n".join(lines), html)


def quoted(text: str) -> Sentence:
    """Return the text set off from what the service says, as mail programs mark quotations in plain text."""
    said = written(text)
    return Sentence("\n".join(f"> {line}".rstrip() for line in said.text.split("\n")), format_html(_BOX, said.html))
