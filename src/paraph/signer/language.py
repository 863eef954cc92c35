"""In which language a page speaks."""

from django.http import HttpRequest
from django.utils.translation.trans_real import parse_accept_lang_header

from paraph import words as catalog
from paraph.signature_requests.models import Signer
from paraph.words import LOCALES, Words


def choose(request: HttpRequest, signer: Signer | None, entered: str = "") -> str:
    """The language that a form on the page was ``entered`` in, ``?lang=``, else the first language of the browser that
    there is a page in, else the request's."""
    asked = request.GET.get("lang", "")
    browser = [_base(tag) for tag, _ in parse_accept_lang_header(request.headers.get("Accept-Language", ""))]
    own = signer.request.locale if signer else LOCALES[0]
    return next((locale for locale in (entered, asked, *browser, own) if locale in LOCALES), LOCALES[0])


def words(locale: str) -> Words:
    """Everything a page says, by name."""
    return catalog.of("page", locale)


def names() -> list[tuple[str, str]]:
    """Each locale with its name in its own language."""
    return [(locale, catalog.language_name(locale)) for locale in LOCALES]


def _base(tag: str) -> str:
    """The language of a tag such as ``de-AT``; Norwegian without a written form is Bokmål."""
    code = tag.partition("-")[0]
    return "nb" if code == "no" else code
