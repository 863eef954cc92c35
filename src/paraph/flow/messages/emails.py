"""The e-mails and SMS to signers, in their language and the request's colours.

Names that a client chose are unlinked, so that nobody sends mails with other links through the service.
"""

from dataclasses import dataclass
from html import escape

from paraph.flow.messages.email_words import WORDS
from paraph.kernel.colors import readable_on
from paraph.messaging.unlinked import unlinked
from paraph.signature_requests.models import SignatureRequest, Signer

_DEFAULT_ACCENT = "#1f4fd8"
_MAX_NAME_LENGTH = 80
_MAX_NAME_LENGTH_IN_SMS = 40


@dataclass(frozen=True)
class EmailContent:
    subject: str
    text: str
    html: str


def invitation(signer: Signer, url: str) -> EmailContent:
    """Writes the invitation: who asks for the signature, until when, and the signing URL."""
    words = _words(signer)
    sender = _sender_name(signer)
    until = signer.request.expires_at.strftime("%Y-%m-%d %H:%M UTC")
    lines = [
        words["hello"].format(name=_signer_name(signer)),
        words["invited"].format(sender=sender),
        words["until"].format(until=until),
    ]
    subject = words["invitation_subject"].format(sender=sender)
    return _email(signer.request, subject, lines, words["personal"], (words["open"], url))


def one_time_code(signer: Signer, code: str) -> EmailContent:
    """Writes the e-mail with a one-time code."""
    words = _words(signer)
    lines = [
        words["hello"].format(name=_signer_name(signer)),
        words["code"].format(code=code, sender=_sender_name(signer)),
    ]
    return _email(signer.request, words["code_subject"].format(code=code), lines, words["code_secret"], None)


def one_time_code_sms(signer: Signer, code: str) -> str:
    """Writes the SMS with a one-time code."""
    return _words(signer)["code"].format(code=code, sender=_sender_name(signer, _MAX_NAME_LENGTH_IN_SMS))


def completion(signer: Signer) -> EmailContent:
    """Writes the summary: everybody has signed."""
    words = _words(signer)
    sender = _sender_name(signer)
    lines = [
        words["hello"].format(name=_signer_name(signer)),
        words["completed"].format(sender=sender, number=signer.request_id),
    ]
    return _email(
        signer.request,
        words["completion_subject"].format(sender=sender),
        lines,
        words["completed_next"].format(sender=sender),
        None,
    )


def confirmation(sender: str, address: str, locale: str, url: str) -> EmailContent:
    """Writes the question whether the reader wants test messages of this sender."""
    words = WORDS.get(locale, WORDS["en"])
    sender = unlinked(sender, _MAX_NAME_LENGTH)
    lines = [words["confirm"].format(sender=sender, address=address)]
    subject = words["confirm_subject"].format(sender=sender)
    return _email(None, subject, lines, words["confirm_ignore"], (words["confirm_open"], url))


def _signer_name(signer: Signer) -> str:
    return unlinked(signer.full_name, _MAX_NAME_LENGTH)


def _sender_name(signer: Signer, max_length: int = _MAX_NAME_LENGTH) -> str:
    return unlinked(signer.request.organization.name, max_length)


def _words(signer: Signer) -> dict[str, str]:
    return WORDS.get(signer.locale or signer.request.locale, WORDS["en"])


def _email(
    request: SignatureRequest | None, subject: str, lines: list[str], closing: str, action: tuple[str, str] | None
) -> EmailContent:
    middle = [f"{action[0]}:\n{action[1]}"] if action else []
    text = "\n\n".join([*lines, *middle, closing]) + "\n"
    accent = request.branding_profile.accent_color if request and request.branding_profile else _DEFAULT_ACCENT
    button = _button(action, accent) if action else ""
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in lines)
    html = (
        '<div style="font:16px/1.5 sans-serif;max-width:34em">'
        f'{paragraphs}{button}<p style="font-size:14px">{escape(closing)}</p></div>'
    )
    return EmailContent(subject, text, html)


def _button(action: tuple[str, str], accent: str) -> str:
    """Returns a link that looks like a button, and the address below it as text."""
    words, url = escape(action[0]), escape(action[1])
    style = (
        f"display:inline-block;padding:12px 20px;border-radius:6px;text-decoration:none;"
        f"background:{accent};color:{readable_on(accent)}"
    )
    return f'<p><a href="{url}" style="{style}">{words}</a></p><p style="font-size:14px">{url}</p>'
