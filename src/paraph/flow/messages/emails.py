"""The messages of the journey, as text and as HTML, in the reader's language and the request's colours. Names that
a client chose stand in them unlinked: no key is a relay for mails that lure people elsewhere."""

from dataclasses import dataclass
from html import escape

from paraph.flow.messages.texts import WORDS
from paraph.kernel.colors import readable_on
from paraph.messaging.unlinked import unlinked
from paraph.signature_requests.models import SignatureRequest, Signer

_DEFAULT_ACCENT = "#1f4fd8"
_LONGEST_NAME = 80
_LONGEST_NAME_IN_SMS = 40


@dataclass(frozen=True)
class Letter:
    subject: str
    text: str
    html: str


def invitation(signer: Signer, url: str) -> Letter:
    """Who asks, until when, and the signing URL."""
    words = _words(signer)
    sender = _sender(signer)
    until = signer.request.expires_at.strftime("%Y-%m-%d %H:%M UTC")
    lines = [
        words["hello"].format(name=_reader(signer)),
        words["invited"].format(sender=sender),
        words["until"].format(until=until),
    ]
    subject = words["invitation_subject"].format(sender=sender)
    return _letter(signer.request, subject, lines, words["personal"], (words["open"], url))


def one_time_code(signer: Signer, code: str) -> Letter:
    """The code by e-mail."""
    words = _words(signer)
    lines = [
        words["hello"].format(name=_reader(signer)),
        words["code"].format(code=code, sender=_sender(signer)),
    ]
    return _letter(signer.request, words["code_subject"].format(code=code), lines, words["code_secret"], None)


def one_time_code_sms(signer: Signer, code: str) -> str:
    """The code in one short message."""
    return _words(signer)["code"].format(code=code, sender=_sender(signer, _LONGEST_NAME_IN_SMS))


def completion(signer: Signer) -> Letter:
    """Everybody has signed."""
    words = _words(signer)
    sender = _sender(signer)
    lines = [
        words["hello"].format(name=_reader(signer)),
        words["completed"].format(sender=sender, number=signer.request_id),
    ]
    return _letter(
        signer.request,
        words["completion_subject"].format(sender=sender),
        lines,
        words["completed_next"].format(sender=sender),
        None,
    )


def confirmation(sender: str, address: str, locale: str, url: str) -> Letter:
    """Whether the reader wants test messages of this sender, and where to say so."""
    words = WORDS.get(locale, WORDS["en"])
    sender = unlinked(sender, _LONGEST_NAME)
    lines = [words["confirm"].format(sender=sender, address=address)]
    subject = words["confirm_subject"].format(sender=sender)
    return _letter(None, subject, lines, words["confirm_ignore"], (words["confirm_open"], url))


def _reader(signer: Signer) -> str:
    return unlinked(signer.full_name, _LONGEST_NAME)


def _sender(signer: Signer, longest: int = _LONGEST_NAME) -> str:
    return unlinked(signer.request.organization.name, longest)


def _words(signer: Signer) -> dict[str, str]:
    return WORDS.get(signer.locale or signer.request.locale, WORDS["en"])


def _letter(
    request: SignatureRequest | None, subject: str, lines: list[str], closing: str, action: tuple[str, str] | None
) -> Letter:
    middle = [f"{action[0]}:\n{action[1]}"] if action else []
    text = "\n\n".join([*lines, *middle, closing]) + "\n"
    accent = request.branding_profile.accent_color if request and request.branding_profile else _DEFAULT_ACCENT
    button = _button(action, accent) if action else ""
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in lines)
    html = (
        '<div style="font:16px/1.5 sans-serif;max-width:34em">'
        f'{paragraphs}{button}<p style="font-size:14px">{escape(closing)}</p></div>'
    )
    return Letter(subject, text, html)


def _button(action: tuple[str, str], accent: str) -> str:
    """A link that looks like a button, and the address once more for those who rather read it."""
    words, url = escape(action[0]), escape(action[1])
    style = (
        f"display:inline-block;padding:12px 20px;border-radius:6px;text-decoration:none;"
        f"background:{accent};color:{readable_on(accent)}"
    )
    return f'<p><a href="{url}" style="{style}">{words}</a></p><p style="font-size:14px">{url}</p>'
