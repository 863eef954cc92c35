"""In which language a page speaks, and its words."""

import json
from datetime import datetime
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest
from django.utils import formats, translation
from django.utils.translation.trans_real import parse_accept_lang_header

from paraph.signature_requests.consent import LOCALES
from paraph.signature_requests.models import Signer

_WORDS = Path(__file__).parent / "words"


def choose(request: HttpRequest, signer: Signer | None) -> str:
    """``?lang=``, else the first language of the browser that there is a page in, else the request's."""
    asked = request.GET.get("lang", "")
    browser = [tag.partition("-")[0] for tag, _ in parse_accept_lang_header(request.headers.get("Accept-Language", ""))]
    own = signer.request.locale if signer else LOCALES[0]
    return next((locale for locale in (asked, *browser, own) if locale in LOCALES), LOCALES[0])


@cache
def words(locale: str) -> dict[str, str]:
    """Everything a page says, by name. A placeholder in braces is filled in where it is used."""
    content: dict[str, str] = json.loads((_WORDS / f"{locale}.json").read_text("utf-8"))
    return content


def names() -> list[tuple[str, str]]:
    """Each locale with its name in its own language."""
    return [(locale, dict(settings.LANGUAGES)[locale]) for locale in LOCALES]


def moment(time: datetime, locale: str) -> str:
    """Date and time as that language writes them, in UTC and saying so."""
    with translation.override(locale):
        return f"{formats.date_format(time, 'DATETIME_FORMAT')} UTC"
