"""In which language a page speaks, and its words."""

import json
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from babel import Locale
from babel.dates import format_datetime, get_timezone
from django.http import HttpRequest
from django.utils.translation.trans_real import parse_accept_lang_header

from paraph.signature_requests.consent import LOCALES
from paraph.signature_requests.models import Signer

_WORDS = Path(__file__).parent / "words"


def choose(request: HttpRequest, signer: Signer | None, entered: str = "") -> str:
    """The language that a form on the page was ``entered`` in, ``?lang=``, else the first language of the browser that
    there is a page in, else the request's."""
    asked = request.GET.get("lang", "")
    browser = [tag.partition("-")[0] for tag, _ in parse_accept_lang_header(request.headers.get("Accept-Language", ""))]
    own = signer.request.locale if signer else LOCALES[0]
    return next((locale for locale in (entered, asked, *browser, own) if locale in LOCALES), LOCALES[0])


@cache
def words(locale: str) -> dict[str, Any]:
    """Everything a page says, by name (:mod:`paraph.signer.phrases`), and the ``locale`` itself."""
    content: dict[str, Any] = json.loads((_WORDS / f"{locale}.json").read_text("utf-8"))
    return {**content, "locale": locale}


@cache
def names() -> list[tuple[str, str]]:
    """Each locale with its name in its own language."""
    return [(locale, _name(locale)) for locale in LOCALES]


def direction(locale: str) -> str:
    """``ltr`` or ``rtl``."""
    return Locale.parse(locale).text_direction


def moment(time: datetime, locale: str) -> str:
    """Date and time in words, as the language writes them (CLDR), in UTC and saying so."""
    return f"{format_datetime(time, 'long', get_timezone('UTC'), locale)}"


def _name(locale: str) -> str:
    name = Locale.parse(locale).display_name or locale
    return name[:1].upper() + name[1:]
