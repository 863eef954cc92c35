"""The e-mails and SMS about a request to those who take part in it, in their language and the request's colours. Names
that a client chose and what people wrote are unlinked: nobody sends mails with other links through the service."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe

from paraph.documents.models import Document
from paraph.kernel import clock
from paraph.messaging.email import service_name
from paraph.messaging.letters import EmailContent, Letter, Sentence, lay_out, plain, say, unlinked
from paraph.signature_requests import links
from paraph.signature_requests.links import signing_url
from paraph.signature_requests.models import (
    LONGEST_SUBJECT,
    CopyRecipient,
    Inquiry,
    SignatureRequest,
    Signer,
    SignerStatus,
)
from paraph.signature_requests.signing import documents_of
from paraph.tenants.branding import accent, logo_picture
from paraph.tenants.models import Member
from paraph.words import Words, date, for_approvers, listed, moment, of, phrase

MAX_LENGTH = 80
_MOST_DOCUMENTS = 10
_MARKED = '<bdi><b style="display:inline-block;max-width:100%">{}</b></bdi>'  # a name is broken only where it must be
_PDF = ".pdf"  # no domain ends so: mail programs make no link of it
_SENDER_LENGTHS_IN_SMS = range(10, 41)
_MAX_SMS_LENGTH = 2 * 67  # characters in two segments, whatever the script
_CODE = (
    '<strong class="code" style="display:block;margin:0 0 8px;font:700 34px/1.3 ui-monospace,Menlo,Consolas,monospace;'
    'letter-spacing:6px;user-select:all;-webkit-user-select:all"><bdi dir="ltr">{}</bdi></strong>'
)
_MOST_LINKS = 10  # the page that the mail leads to has all of them
_LINK = '<a href="{}" style="color:inherit"><bdi>{}</bdi></a>'
_WHO = '<bdi><b>{}</b></bdi> <bdi style="display:inline-block;max-width:100%">({})</bdi>'


class CopyLink(NamedTuple):
    """Where a signer gets the sealed documents, and until when."""

    url: str
    until: datetime


def copy_link(signer: Signer) -> CopyLink:
    """Make a link that holds for :data:`paraph.signature_requests.links.IN_MAIL`."""
    ticket = links.ticket(signer, links.IN_MAIL)
    return CopyLink(f"{signing_url(signer)}?ticket={ticket}", clock.now() + links.IN_MAIL)


def invitation(signer: Signer, url: str, documents: Sequence[Document] | None = None) -> EmailContent:
    """Write the invitation: who asks for the signature, in which words, to which documents (by default the signer's),
    until when, and the signing URL."""
    words, request = _words(signer), signer.request
    asked = say(words, "invited", sender=inviting_name(signer))
    return _laid_out(
        signer,
        words,
        subject=_invitation_subject(words, request.organization.name, request.subject),
        preview=words["preview_invitation"],
        lines=[asked, *_to_sign(signer, words, request.message, documents)],
        closing=[say(words, "personal")],
        action=(words["open"], url),
    )


def reminder(signer: Signer, url: str, message: str = "") -> EmailContent:
    """Write the invitation again: since when the signer is asked, and until when they can sign. ``message``: what the
    sender writes this time, in the place of the first message."""
    words, request = _words(signer), signer.request
    day = date(signer.notified_at or request.created_at, words["locale"])
    asked = say(words, "reminded", sender=inviting_name(signer), date=plain(day))
    return _laid_out(
        signer,
        words,
        subject=reminder_subject(signer),
        preview=phrase(words, "until", until=moment(request.expires_at, words["locale"])),
        lines=[asked, *_to_sign(signer, words, message or request.message)],
        closing=[say(words, "personal")],
        action=(words["open"], url),
    )


def reminder_subject(signer: Signer) -> str:
    """Write the subject of a reminder: that of the invitation, marked as a reminder."""
    words, request = _words(signer), signer.request
    first = _invitation_subject(words, request.organization.name, request.subject)
    return phrase(words, "reminder_subject", subject=first)


def _to_sign(signer: Signer, words: Words, message: str, documents: Sequence[Document] | None = None) -> list[Sentence]:
    until = say(words, "until", until=_moment(signer.request.expires_at, words))
    return [*_message(words, message), _documents(signer, words, documents), until]


def _message(words: Words, message: str) -> list[Sentence]:
    return [say(words, "message"), quoted(message)] if message else []


def invitation_subject(locale: str, organization_name: str, chosen: str = "", *, is_approver: bool = False) -> str:
    """Write the subject of an invitation, which begins with the organization, also if the sender has chosen one."""
    words = of("mail", locale)
    return _invitation_subject(for_approvers(words) if is_approver else words, organization_name, chosen)


def _invitation_subject(words: Words, organization_name: str, chosen: str) -> str:
    sender = unlinked(organization_name, MAX_LENGTH)
    if subject := unlinked(chosen, LONGEST_SUBJECT):
        return f"{sender}: {subject}"
    return phrase(words, "invitation_subject", sender=sender)


def one_time_code(signer: Signer, code: str, locale: str = "") -> EmailContent:
    """Write the e-mail with a one-time code, in ``locale``, by default the signer's own or the request's."""
    words = _words(signer, locale)
    large = Sentence(code, format_html(_CODE, code))
    return _laid_out(
        signer,
        words,
        subject=phrase(words, "code_subject", code=code),
        preview=words["code_secret"],
        lines=[say(words, "code", code=large, sender=sender_name(signer.request))],
        closing=[say(words, "code_secret")],
    )


def one_time_code_sms(signer: Signer, code: str, locale: str = "") -> str:
    """Write the SMS with a one-time code. Its last line binds the code to this service's domain: phones offer to enter
    it there and nowhere else. The sender's name is cut where the message would take more than two segments."""
    words = _words(signer, locale)
    bound = f"\n\n@{urlsplit(settings.PARAPH.public_url).hostname} #{code}"
    room = _MAX_SMS_LENGTH - len(phrase(words, "code", code=code, sender="") + bound)
    length = min(max(room, _SENDER_LENGTHS_IN_SMS[0]), _SENDER_LENGTHS_IN_SMS[-1])
    return phrase(words, "code", code=code, sender=sender_name(signer.request, length)) + bound


def completion(signer: Signer, copy: CopyLink | None) -> EmailContent:
    """Write the summary at completion, that everybody has signed. ``copy`` leads to the signer's copy, also while it is
    being sealed."""
    words, sender = _words(signer), sender_name(signer.request)
    documents = _documents(signer, words)
    soon = [say(words, "completed_next")] if copy else []
    return _laid_out(
        signer,
        words,
        subject=phrase(words, "completion_subject", sender=sender),
        preview=documents.text,
        lines=[
            say(words, "completed", sender=sender),
            documents,
            *([say(words, "completed_sealed", sender=sender)] if signer.request.finalized else soon),
        ],
        closing=[say(words, "copy_until", until=_moment(copy.until, words)), say(words, "personal")] if copy else [],
        action=(words["copy"], copy.url) if copy else None,
    )


def copy_email(recipient: CopyRecipient) -> EmailContent:
    """Write the mail to somebody who gets a copy: who sends which documents, with a new link to each sealed file and to
    the proof, in the language of the request."""
    request = recipient.request
    words, sender = of("mail", request.locale), sender_name(request)
    documents = [row.document for row in request.request_documents.select_related("document").order_by("position")]
    url, until = links.copy_url(recipient)
    count, names = listed_names(documents, words["locale"])
    about = say(words, "documents", count=count, names=names)
    addresses = [(document_name(each.name), f"{url}/documents/{each.pk}.pdf") for each in documents[:_MOST_LINKS]]
    addresses.append((of("proof", request.locale)["title"], f"{url}/proof.pdf"))
    return _laid_out(
        recipient,
        words,
        subject=phrase(words, "copies_subject", sender=sender),
        preview=about.text,
        lines=[
            say(words, "copies", sender=sender),
            *([about] if len(documents) > _MOST_LINKS else []),
            *(Sentence(f"{name}: {address}", format_html(_LINK, address, name)) for name, address in addresses),
        ],
        closing=[say(words, "copies_until", until=_moment(until, words)), say(words, "personal")],
        action=(words["copies_open"], url),
    )


def inquiry_email(inquiry: Inquiry) -> EmailContent:
    """Write to the sender, in their language, who asks what about which documents."""
    signer, request = inquiry.signer, inquiry.signer.request
    words = of("mail", sender_language(request))
    kind = phrase(of("page", words["locale"]), f"ask_{inquiry.kind}")
    name, text = signer_name(signer), written(inquiry.text)
    return _laid_out(
        signer,
        words,
        from_sender=False,
        subject=f"{name}: {kind}",
        preview=text.text,
        lines=[_who(name, signer.email, kind), text],
        closing=[_about(signer, words)],
    )


def declined_to_contact(decliner: Signer) -> EmailContent:
    """Write to the sender, in their language, who declined to sign which documents, and why."""
    request, name = decliner.request, signer_name(decliner)
    words = of("mail", sender_language(request))
    declined = phrase(words, "declined_by", name=name)
    return _laid_out(
        decliner,
        words,
        from_sender=False,
        subject=declined,
        preview=written(request.ended_reason).text,
        lines=[_who(declined, decliner.email), quoted(request.ended_reason), say(words, "declined_end")],
        closing=[_about(decliner, words)],
    )


def declined_to_signer(signer: Signer) -> EmailContent:
    """Write that the request has ended, but not who declined: the signer must not learn from it who else signs."""
    words, sender = _words(signer), sender_name(signer.request)
    return _laid_out(
        signer,
        words,
        subject=phrase(words, "declined_subject", sender=sender),
        preview=words["declined_end"],
        lines=[say(words, "declined", sender=sender), _documents(signer, words), say(words, "declined_end")],
    )


def withdrawn(signer: Signer) -> EmailContent:
    """Write that the sender withdrew the request, when, and why where a reason was given."""
    words, request = _words(signer), signer.request
    sender, at = sender_name(request), _moment(request.ended_early_at or request.expires_at, words)
    consequence = "withdrawn_signed" if signer.status == SignerStatus.SIGNED else "withdrawn_end"
    return _laid_out(
        signer,
        words,
        subject=phrase(words, "withdrawn_subject", sender=sender),
        preview=words[consequence],
        lines=[
            say(words, "withdrawn", sender=sender, date=at),
            _documents(signer, words),
            *_message(words, request.ended_reason),
            say(words, consequence),
        ],
    )


def confirmation(sender: str, address: str, locale: str, url: str) -> EmailContent:
    """Write the question whether the reader wants test messages from this sender."""
    words = of("mail", locale)
    sender = unlinked(sender, MAX_LENGTH)
    return lay_out(
        Letter(
            locale=words["locale"],
            subject=phrase(words, "confirm_subject", sender=sender),
            preview=words["confirm_ignore"],
            sender=sender,
            lines=[say(words, "confirm", sender=sender, address=address)],
            closing=[say(words, "confirm_ignore")],
            action=(words["confirm_open"], url),
        )
    )


def _laid_out(
    about: Signer | CopyRecipient,
    words: Words,
    *,
    subject: str,
    preview: str,
    lines: list[Sentence],
    closing: Sequence[Sentence] = (),
    action: tuple[str, str] | None = None,
    from_sender: bool = True,
) -> EmailContent:
    """Lay out a mail about the request: from its sender to this person, who takes part in it; without ``from_sender``,
    from the service to the sender."""
    request = about.request
    return lay_out(
        Letter(
            locale=words["locale"],
            subject=subject,
            preview=preview,
            sender=sender_name(request),
            lines=[say(words, "hello", name=signer_name(about)), *lines] if from_sender else lines,
            closing=closing,
            action=action,
            accent=accent(request.branding_profile),
            logo=logo_picture(request.branding_profile) if from_sender else None,
            from_name=from_name(request) if from_sender else "",
        )
    )


def _documents(signer: Signer, words: Words, documents: Sequence[Document] | None = None) -> Sentence:
    count, names = listed_names(documents_of(signer) if documents is None else documents, words["locale"])
    return say(words, "documents", count=count, names=names)


def _about(signer: Signer, words: Words) -> Sentence:
    """Return the line that names the signer's documents, and the number of the request."""
    documents, number = _documents(signer, words), signer.request_id
    html = format_html('{} <bdi dir="ltr">(#{})</bdi>', documents.html, number)
    return Sentence(f"{documents.text} (#{number})", html)


def _who(name: str, address: str, what: str = "") -> Sentence:
    """Return the line that names a person and their address, and says what they do."""
    more, html = (f": {what}", format_html("<br><b>{}</b>", what)) if what else ("", "")
    return Sentence(f"{name} ({address}){more}", format_html(_WHO + "{}", name, address, html))


def _moment(time: datetime, words: Words) -> Sentence:
    return plain(moment(time, words["locale"]))


def _words(signer: Signer, locale: str = "") -> Words:
    words = of("mail", locale or signer.locale or signer.request.locale)
    return for_approvers(words) if signer.is_approver else words


def signer_name(signer: Signer | CopyRecipient) -> str:
    return unlinked(signer.full_name, MAX_LENGTH)


def sender_name(request: SignatureRequest, max_length: int = MAX_LENGTH) -> str:
    return unlinked(request.organization.name, max_length)


def inviting_name(signer: Signer) -> str:
    """Return who asks for the signature: the member who sent the request, with the organization, or this alone."""
    name, organization = _member_name(signer.request), sender_name(signer.request)
    return f"{name} ({organization})" if name else organization


def from_name(request: SignatureRequest) -> str:
    """Return the name that mails to those who take part come from: the member who sent the request, by way of the
    organization; of a request by API, the organization, by way of the service."""
    name, organization = _member_name(request), sender_name(request)
    return " via ".join(filter(None, (name, organization) if name else (organization, service_name())))


def _member_name(request: SignatureRequest) -> str:
    """Return who sent the request; "" where no member did, or one who is named as the organization is."""
    name = unlinked(request.sent_by.name, MAX_LENGTH) if request.sent_by else ""
    return "" if name == sender_name(request) else name


def sender_language(request: SignatureRequest) -> str:
    """Return the language of the member who sent the request: the account's, else the last one they used here; the
    request's where no member sent it, or no language is known."""
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
_LINE = '<span dir="auto" style="display:block">{}</span>'
_BOX = (
    '<span class="quiet" style="display:block;padding:12px 16px;border:1px solid #d9deea;border-radius:8px">{}</span>'
)


def written(text: str) -> Sentence:
    """Return the text line by line, each in the direction of its script."""
    lines = [unlinked(line, _MAX_LINE_LENGTH) for line in text.split("\n")]
    html = format_html_join("", _LINE, ((line or "\u00a0",) for line in lines))
    return Sentence("\n".join(lines), html)


def quoted(text: str) -> Sentence:
    """Return the text set off from what the service says, as mail programs mark quotations in plain text."""
    said = written(text)
    return Sentence("\n".join(f"> {line}".rstrip() for line in said.text.split("\n")), format_html(_BOX, said.html))
