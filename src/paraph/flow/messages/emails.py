"""The e-mails and SMS to signers, in their language and the request's colours.

Names that a client chose are unlinked, so that nobody sends mails with other links through the service.
"""

from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.html import format_html

from paraph.flow.messages.names import MAX_LENGTH, document_names, inviting_name, sender_name, signer_name
from paraph.flow.messages.written import quoted
from paraph.kernel import clock
from paraph.messaging.letters import EmailContent, Letter, Sentence, lay_out, plain, say, unlinked
from paraph.signature_requests import tickets
from paraph.signature_requests.models import LONGEST_SUBJECT, Signer
from paraph.signature_requests.signing_token import signing_url
from paraph.tenants.branding import accent, logo_picture
from paraph.words import Words, for_approvers, moment, of, phrase

_SENDER_LENGTHS_IN_SMS = range(10, 41)
_MAX_SMS_LENGTH = 2 * 67  # characters in two segments, whatever the script
_CODE = (
    '<strong class="code" style="display:block;margin:0 0 8px;font:700 34px/1.3 ui-monospace,Menlo,Consolas,monospace;'
    'letter-spacing:6px;user-select:all;-webkit-user-select:all"><bdi dir="ltr">{}</bdi></strong>'
)


class CopyLink(NamedTuple):
    """Where a signer gets the sealed documents, and until when."""

    url: str
    until: datetime


def invitation(signer: Signer, url: str) -> EmailContent:
    """Write the invitation: who asks for the signature, in which words, to which documents, until when, and the signing
    URL."""
    words, request = _words(signer), signer.request
    message = [say(words, "message"), quoted(request.message)] if request.message else []
    return to_signer(
        signer,
        subject=_invitation_subject(words, request.organization.name, request.subject),
        preview=words["preview_invitation"],
        lines=[
            say(words, "invited", sender=inviting_name(signer)),
            *message,
            _documents(signer, words),
            say(words, "until", until=_moment(request.expires_at, words)),
        ],
        closing=[say(words, "personal")],
        action=(words["open"], url),
    )


def invitation_subject(locale: str, organization_name: str, chosen: str = "", *, is_approver: bool = False) -> str:
    """Write the subject of an invitation: it begins with the organization, also where its sender has chosen another."""
    words = of("mail", locale)
    return _invitation_subject(for_approvers(words) if is_approver else words, organization_name, chosen)


def _invitation_subject(words: Words, organization_name: str, chosen: str) -> str:
    sender = unlinked(organization_name, MAX_LENGTH)
    if subject := unlinked(chosen, LONGEST_SUBJECT):
        return f"{sender}: {subject}"
    return phrase(words, "invitation_subject", sender=sender)


def one_time_code(signer: Signer, code: str, locale: str = "") -> EmailContent:
    """Write the e-mail with a one-time code, in ``locale``, by default the request's."""
    words = _words(signer, locale)
    large = Sentence(code, format_html(_CODE, code))
    return to_signer(
        signer,
        subject=phrase(words, "code_subject", code=code),
        preview=words["code_secret"],
        lines=[say(words, "code", code=large, sender=sender_name(signer))],
        closing=[say(words, "code_secret")],
        words=words,
    )


def one_time_code_sms(signer: Signer, code: str, locale: str = "") -> str:
    """Write the SMS with a one-time code. Its last line binds the code to this service's domain: phones offer to enter
    it there and nowhere else. The sender's name is cut where the message would take more than two segments."""
    words = _words(signer, locale)
    bound = f"\n\n@{urlsplit(settings.PARAPH.public_url).hostname} #{code}"
    room = _MAX_SMS_LENGTH - len(phrase(words, "code", code=code, sender="") + bound)
    length = min(max(room, _SENDER_LENGTHS_IN_SMS[0]), _SENDER_LENGTHS_IN_SMS[-1])
    return phrase(words, "code", code=code, sender=sender_name(signer, length)) + bound


def completion(signer: Signer, copy: CopyLink | None) -> EmailContent:
    """Write the summary at completion, that everybody has signed. ``copy`` leads to the signer's copy, also while it is
    being sealed."""
    words, sender = _words(signer), sender_name(signer)
    documents = _documents(signer, words)
    until = [say(words, "copy_until", until=_moment(copy.until, words)), say(words, "personal")] if copy else []
    return to_signer(
        signer,
        subject=phrase(words, "completion_subject", sender=sender),
        preview=documents.text,
        lines=[
            say(words, "completed", sender=sender),
            documents,
            say(words, "completed_sealed" if signer.request.finalized else "completed_next", sender=sender),
        ],
        closing=until,
        action=(words["copy"], copy.url) if copy else None,
    )


def confirmation(sender: str, address: str, locale: str, url: str) -> EmailContent:
    """Write the question whether the reader wants test messages of this sender."""
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


def to_signer(
    signer: Signer,
    *,
    subject: str,
    preview: str,
    lines: list[Sentence],
    closing: list[Sentence],
    action: tuple[str, str] | None = None,
    words: Words | None = None,
) -> EmailContent:
    """Lay out a mail to the signer, in the signer's language or that of ``words``."""
    words = words or _words(signer)
    return lay_out(
        Letter(
            locale=words["locale"],
            subject=subject,
            preview=preview,
            sender=sender_name(signer),
            lines=[say(words, "hello", name=signer_name(signer)), *lines],
            closing=closing,
            action=action,
            accent=accent(signer.request.branding_profile),
            logo=logo_picture(signer.request.branding_profile),
        )
    )


def _documents(signer: Signer, words: Words) -> Sentence:
    count, names = document_names(signer, words["locale"])
    return say(words, "documents", count=count, names=names)


def _moment(time: datetime, words: Words) -> Sentence:
    return plain(moment(time, words["locale"]))


def _words(signer: Signer, locale: str = "") -> Words:
    words = of("mail", locale or signer.locale or signer.request.locale)
    return for_approvers(words) if signer.is_approver else words


def copy_link(signer: Signer) -> CopyLink:
    """Make a link that holds for :data:`paraph.signature_requests.tickets.IN_MAIL`."""
    ticket = tickets.ticket(signer, tickets.IN_MAIL)
    return CopyLink(f"{signing_url(signer)}?ticket={ticket}", clock.now() + tickets.IN_MAIL)
