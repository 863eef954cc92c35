"""JSON values, read strictly: a string is no number and ``"true"`` is not true.

Each function returns the value or raises ``InvalidValueError`` with a sentence that says what it must be.
"""

import math
import re
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.encoding import punycode
from django.utils.translation import gettext as _
from phonenumbers import NumberParseException, is_possible_number, parse

from paraph.kernel.errors import DomainError
from paraph.outbound.url import check_url

LONGEST_NAME = 200
LONGEST_EMAIL = 320
LONGEST_URL = 2000
LARGEST_ID = 2**63 - 1

_E164 = re.compile(r"\+[1-9][0-9]{1,14}", re.ASCII)
# Control characters, and the lone surrogates that JSON lets through and no text may hold.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")
# With a dot, no address in brackets, no number as the last label, and not this machine by a longer name.
_PUBLIC_DOMAIN = re.compile(r"[^\[\]]+\.(?![0-9]+$)(?!localhost$)[^.\[\]]+")
_HTTPS = re.compile(r"https://[^\s\\/?#]+", re.IGNORECASE)


class InvalidValueError(Exception):
    """The value is not what it must be; the one argument is a sentence."""


def text(value: object, longest: int = LONGEST_NAME) -> str:
    """A text with something in it."""
    if not isinstance(value, str):
        raise InvalidValueError(_("it must be a string."))
    if not value.strip():
        raise InvalidValueError(_("it must not be empty."))
    if len(value) > longest:
        raise InvalidValueError(_("it must have at most %(limit)d characters.") % {"limit": longest})
    if _UNPRINTABLE.search(value):
        raise InvalidValueError(_("it must not hold control characters or lone surrogates."))
    return value


def choice(value: object, values: Sequence[str]) -> str:
    if isinstance(value, str) and value in values:
        return value
    raise InvalidValueError(_("it must be one of %(values)s.") % {"values": ", ".join(values)})


def boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise InvalidValueError(_("it must be a JSON boolean, true or false."))


def integer(value: object, least: int = 1, most: int = LARGEST_ID) -> int:
    """JSON has one type of number: 3.0 is the integer 3."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidValueError(_("it must be an integer."))
    if not least <= value <= most:
        raise _beyond(value, least, most)
    return value


def number(value: object, least: float = -math.inf, most: float = math.inf) -> float:
    """Points of a page."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < 1e9:
        raise InvalidValueError(_("it must be a number of points."))
    if not least <= value <= most:
        raise _beyond(value, least, most)
    return float(value)


def email(value: object) -> str:
    """An address at a domain of the public kind: mails to this machine, or to a number in the network, are nobody's."""
    address = text(value, LONGEST_EMAIL)
    if not _is_address(address):
        raise InvalidValueError(_("“%(value)s” is not an e-mail address.") % {"value": shown(address)})
    if not _is_public(address.rpartition("@")[2]):
        sentence = _("“%(value)s” is not an e-mail address at a full domain name, such as example.com.")
        raise InvalidValueError(sentence % {"value": shown(address)})
    return address


def phone(value: object) -> str:
    """E.164, of a length that its country has."""
    digits = text(value)
    if not _is_e164(digits):
        sentence = _("“%(value)s” is not a phone number in E.164 format, such as +33612345678.")
        raise InvalidValueError(sentence % {"value": shown(digits)})
    return digits


def https_url(value: object) -> str:
    """Where webhooks may be sent: an address with a host, of whatever kind. Where it lies is judged at sending."""
    address = text(value, LONGEST_URL)
    if not _HTTPS.match(address):
        raise InvalidValueError(_("“%(value)s” is not an https address.") % {"value": shown(address)})
    try:
        check_url(address, name="it", schemes=["https"])
    except DomainError:
        sentence = _("“%(value)s” cannot be called: it needs a host, no user name, and port 80, 443 or one from 1024.")
        raise InvalidValueError(sentence % {"value": shown(address)}) from None
    return address


def array(value: object) -> list[Any]:
    """At least one entry."""
    if not isinstance(value, list):
        raise InvalidValueError(_("it must be an array."))
    if not value:
        raise InvalidValueError(_("it must have at least one entry."))
    return value


def mapping(value: object) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise InvalidValueError(_("it must be an object."))


def shown(value: object) -> str:
    """A value as messages repeat it: never long."""
    written = str(value) if not isinstance(value, int) or abs(value) < 10**40 else "10^40…"
    return written if len(written) <= 80 else written[:80] + "…"


def _is_address(address: str) -> bool:
    """Without quotation marks: in them one mailbox has many names, and limits that count by address count none."""
    try:
        validate_email(address)
    except ValidationError:
        return False
    return not address.startswith('"')


def _is_public(domain: str) -> bool:
    """Judged in the form that mail servers are given, in which odd letters and dots have become plain ones."""
    try:
        return bool(_PUBLIC_DOMAIN.fullmatch(punycode(domain).lower()))
    except UnicodeError:
        return False


def _beyond(value: float, least: float, most: float) -> InvalidValueError:
    facts = {"least": f"{least:.15g}", "most": f"{most:.15g}", "value": shown(value)}
    if most == LARGEST_ID:
        return InvalidValueError(_("it must be a positive identifier, not %(value)s.") % facts)
    return InvalidValueError(_("it must be from %(least)s to %(most)s, not %(value)s.") % facts)


def _is_e164(digits: str) -> bool:
    try:
        return bool(_E164.fullmatch(digits)) and is_possible_number(parse(digits, None))
    except NumberParseException:
        return False
