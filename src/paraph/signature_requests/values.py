"""The values of payloads: how they are read, and the types of the shapes that OpenAPI publishes.

Strict: a string is no number and ``"true"`` is not true. Unknown fields are ignored. An optional field that is null
counts as absent. Each function returns the value or raises ``InvalidValueError`` with a sentence on what it must be."""

import math
import re
from collections.abc import Collection
from functools import partial
from typing import Annotated, Any, TypeVar

from django.core import exceptions
from django.core.validators import validate_email
from django.utils.encoding import punycode
from django.utils.translation import gettext as _
from phonenumbers import (
    REGION_CODE_FOR_NON_GEO_ENTITY,
    NumberParseException,
    PhoneNumberFormat,
    PhoneNumberType,
    format_number,
    is_possible_number,
    number_type,
    parse,
    region_code_for_country_code,
)
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic_core import CoreSchema

from paraph.kernel.errors import DomainError
from paraph.outbound.url import check_url
from paraph.signature_requests.problems import Flood

LONGEST_NAME = 200
LONGEST_EMAIL = 320
LONGEST_URL = 2000
LARGEST_ID = 2**63 - 1
MOST_METADATA = 50
LONGEST_METADATA = 500

_TRUNK = "(0)"  # as on letterheads: +33 (0)6 12 34 56 78
_E164 = re.compile(r"\+[1-9][0-9]{1,14}", re.ASCII)
# UNKNOWN has the ranges that a country has assigned since the library was released.
_TAKING_SMS = {
    PhoneNumberType.MOBILE,
    PhoneNumberType.FIXED_LINE_OR_MOBILE,
    PhoneNumberType.FIXED_LINE,
    PhoneNumberType.VOIP,
    PhoneNumberType.UNKNOWN,
}
# Control characters, and lone surrogates, which JSON allows and UTF-8 does not.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")
# With a dot, no address in brackets, no number as the last label, and not a subdomain of localhost.
_PUBLIC_DOMAIN = re.compile(r"[^\[\]]+\.(?![0-9]+$)(?!localhost$)[^.\[\]]+")
_KEY = re.compile(r"[A-Za-z0-9_.-]{1,40}")
_LOCALHOST = re.compile(r"http://localhost(?=[:/?#]|$)", re.IGNORECASE)
_HTTPS = re.compile(r"https://[^\s\\/?#]+", re.IGNORECASE)


class InvalidValueError(ValueError):
    """The value is invalid. The one argument is a sentence."""


def text(value: object, longest: int = LONGEST_NAME) -> str:
    """Read a text that is not blank."""
    if not isinstance(value, str):
        raise InvalidValueError(_("it must be a string."))
    if not value.strip():
        raise InvalidValueError(_("it must not be empty."))
    if len(value) > longest:
        raise InvalidValueError(_("it must have at most %(limit)d characters.") % {"limit": longest})
    if UNPRINTABLE.search(value):
        raise InvalidValueError(_("it must not contain control characters or lone surrogates."))
    return value


def choice(value: object, values: Collection[str]) -> str:
    if isinstance(value, str) and value in values:
        return value
    raise InvalidValueError(_("it must be one of %(values)s.") % {"values": ", ".join(values)})


def integer(value: object, maximum: int = LARGEST_ID) -> int:
    """Read an integer of at least 1; 3.0 is one, as JSON has a single type of number."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidValueError(_("it must be an integer."))
    if not 1 <= value <= maximum:
        raise _beyond(value, 1, maximum)
    return value


def number(value: object, minimum: float = -math.inf, maximum: float = math.inf) -> float:
    """Read a number of points."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < 1e9:
        raise InvalidValueError(_("it must be a number of points."))
    if not minimum <= value <= maximum:
        raise _beyond(value, minimum, maximum)
    return float(value)


def email(value: object) -> str:
    """Read an e-mail address at a public domain name: not at this machine, nor at an IP address."""
    address = text(value, LONGEST_EMAIL)
    if not _is_address(address):
        raise InvalidValueError(_("“%(value)s” is not an e-mail address.") % {"value": shown(address)})
    if not _is_public(address.rpartition("@")[2]):
        sentence = _("“%(value)s” is not an e-mail address at a full domain name, such as example.com.")
        raise InvalidValueError(sentence % {"value": shown(address)})
    return address


def phone(value: object) -> str:
    """Read a phone number in E.164 format, of a length that its country has and without the country's trunk prefix."""
    digits = text(value)
    facts = {"value": shown(digits)}
    not_e164 = _("“%(value)s” is not a phone number in E.164 format, such as +33612345678.")
    plain = re.sub(r"[ ()./-]", "", digits) if _TRUNK in digits else digits
    if not _E164.fullmatch(plain):
        raise InvalidValueError(not_e164 % facts)
    try:
        number = parse(plain, None)
    except NumberParseException as error:
        unassigned = error.error_type == NumberParseException.INVALID_COUNTRY_CODE
        sentence = _("“%(value)s” begins with a country code that is not assigned.") if unassigned else not_e164
        raise InvalidValueError(sentence % facts) from None
    written = format_number(number, PhoneNumberFormat.E164)  # without the prefix, which parse removes
    if written != plain:
        sentence = _(
            "“%(value)s” has a prefix after its country code that is dialled only within the country: without it, it "
            "is %(number)s."
        )
        raise InvalidValueError(sentence % {**facts, "number": written})
    if plain != digits or not is_possible_number(number):
        raise InvalidValueError(not_e164 % facts)
    return digits


def sms_number(value: object) -> str:
    """Read a phone number to which codes may be sent: one of a country, and not of a premium or special service."""
    digits = phone(value)
    if not takes_sms(digits):
        sentence = _(
            "“%(value)s” is not a number to which codes are sent by SMS, but one of a premium, satellite or other "
            "special service."
        )
        raise InvalidValueError(sentence % {"value": shown(digits)})
    return digits


def takes_sms(digits: str) -> bool:
    number = parse(digits, None)
    of_country = region_code_for_country_code(number.country_code or 0) != REGION_CODE_FOR_NON_GEO_ENTITY
    return of_country and number_type(number) in _TAKING_SMS


def https_url(value: object) -> str:
    """Read the https address of a webhook. Whether its host is a public one is judged when a delivery is sent."""
    address = text(value, LONGEST_URL)
    if not _HTTPS.match(address):
        raise InvalidValueError(_("“%(value)s” is not an https address.") % {"value": shown(address)})
    try:
        check_url(address, name="it", schemes=["https"])
    except DomainError:
        sentence = _("“%(value)s” cannot be called: it needs a host, no user name, and port 80, 443 or one from 1024.")
        raise InvalidValueError(sentence % {"value": shown(address)}) from None
    return address


def page_url(value: object) -> str:
    """Read the address of a page that browsers are led to: https, or http at ``localhost``, which is for trials."""
    address = text(value, LONGEST_URL)
    if not _LOCALHOST.match(address):
        return https_url(address)
    try:
        check_url(address, name="it")
    except DomainError:
        raise InvalidValueError(_("“%(value)s” is not the address of a page.") % {"value": shown(address)}) from None
    return address


def metadata(value: object) -> dict[str, str]:
    """Read texts by name. The sentence names all that is wrong with them."""
    if not isinstance(value, dict):
        raise InvalidValueError(_("it must be an object."))
    given: dict[str, Any] = value
    if len(given) > MOST_METADATA:
        sentence = _("it must have at most %(limit)d keys, not %(count)d.")
        raise InvalidValueError(sentence % {"limit": MOST_METADATA, "count": len(given)})
    wrong = [problem for key, each in given.items() if (problem := _wrong_entry(key, each))]
    if wrong:
        raise InvalidValueError(" ".join(wrong))
    return given


def _wrong_entry(key: str, value: object) -> str:
    """Say what is wrong with an entry of metadata, "" for nothing."""
    facts = {"key": shown(key).encode("utf-8", "replace").decode(), "limit": LONGEST_METADATA}
    if not _KEY.fullmatch(key):
        return _("the key “%(key)s” must have 1 to 40 characters from A-Z, a-z, 0-9, “_”, “.” and “-”.") % facts
    if not isinstance(value, str):
        return _("the value of “%(key)s” must be a string.") % facts
    if len(value) > LONGEST_METADATA:
        sentence = _("the value of “%(key)s” must have at most %(limit)d characters, not %(count)d.")
        return sentence % {**facts, "count": len(value)}
    if UNPRINTABLE.search(value):
        return _("the value of “%(key)s” must not contain control characters or lone surrogates.") % facts
    return ""


def shown(value: object) -> str:
    """Return a value as messages quote it, at most 80 characters of it."""
    written = str(value) if not isinstance(value, int) or abs(value) < 10**40 else "10^40…"
    return written if len(written) <= 80 else written[:80] + "…"


def _is_address(address: str) -> bool:
    """Refuse quoted local parts, which give one mailbox many addresses, so that limits by address would not work."""
    try:
        validate_email(address)
    except exceptions.ValidationError:
        return False
    return not address.startswith('"')


def _is_public(domain: str) -> bool:
    """Judge a domain in the form that mail servers get, with odd letters and dots converted to plain ones."""
    try:
        return bool(_PUBLIC_DOMAIN.fullmatch(punycode(domain).lower()))
    except UnicodeError:
        return False


def _beyond(value: float, minimum: float, maximum: float) -> InvalidValueError:
    facts = {"least": f"{minimum:.15g}", "most": f"{maximum:.15g}", "value": shown(value)}
    if maximum == LARGEST_ID:
        return InvalidValueError(_("it must be a positive identifier, not %(value)s.") % facts)
    return InvalidValueError(_("it must be from %(least)s to %(most)s, not %(value)s.") % facts)


MOST_ORDER = MOST_PAGES = 2**31 - 1
MOST_VALIDITY_DAYS = 90
WIDTHS = (80.0, 400.0)
HEIGHTS = (30.0, 160.0)
LONGEST_TAG = 500
LONGEST_REASON = 500

PRINTABLE = r"[^\u0000-\u001f\u007f-\u009f\u2028\u2029]"
_VISIBLE = PRINTABLE.replace("[^", r"[^\s")
TEXT = {"type": "string", "minLength": 1, "pattern": rf"^{PRINTABLE}*{_VISIBLE}{PRINTABLE}*$"}
_EMAIL = {"type": "string", "format": "email", "minLength": 3, "maxLength": LONGEST_EMAIL}
_PHONE = {"type": "string", "pattern": r"^\+[1-9][0-9]{1,14}$", "minLength": 3, "maxLength": 16}
_URL = {"type": "string", "format": "uri", "pattern": "^https://", "maxLength": LONGEST_URL}
_PAGE_URL = {**_URL, "pattern": "^(https://|http://localhost)"}
METADATA = {
    "type": "object",
    "maxProperties": MOST_METADATA,
    "propertyNames": {"type": "string", "pattern": "^[A-Za-z0-9_.-]+$", "minLength": 1, "maxLength": 40},
    "additionalProperties": {"type": "string", "pattern": f"^{PRINTABLE}*$", "maxLength": LONGEST_METADATA},
}


class _Nullable:
    """Mark an optional field with a default that may be null, which counts as absent."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [handler(schema), {"type": "null"}]}


OrNull = _Nullable()


def _counted(value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """Read an entry of an array, unless more is wrong already than is named: a hostile payload is wrong all over."""
    flood: Flood = info.context or Flood()
    if flood.full:
        return None
    before = flood.problems
    try:
        return read(value)
    except ValidationError as error:
        flood.problems = before + error.error_count()  # which includes those of entries within this one
        raise


Shape = TypeVar("Shape")
Entry = Annotated[Shape, WrapValidator(_counted)]

Text = Annotated[str, PlainValidator(text), WithJsonSchema({**TEXT, "maxLength": LONGEST_NAME})]
LongText = Annotated[
    str, PlainValidator(partial(text, longest=LONGEST_TAG)), WithJsonSchema({**TEXT, "maxLength": LONGEST_TAG})
]
Reason = Annotated[
    str, PlainValidator(partial(text, longest=LONGEST_REASON)), WithJsonSchema({**TEXT, "maxLength": LONGEST_REASON})
]
Email = Annotated[str, PlainValidator(email), WithJsonSchema(_EMAIL)]
Phone = Annotated[str, PlainValidator(phone), WithJsonSchema(_PHONE)]
HttpsUrl = Annotated[str, PlainValidator(https_url), WithJsonSchema(_URL)]
PageUrl = Annotated[str, PlainValidator(page_url), WithJsonSchema(_PAGE_URL)]
Metadata = Annotated[dict[str, str], PlainValidator(metadata), WithJsonSchema(METADATA)]
Id = Annotated[int, Field(ge=1, le=LARGEST_ID, json_schema_extra={"format": "int64"}), BeforeValidator(integer)]
Days = Annotated[int, Field(ge=1, le=MOST_VALIDITY_DAYS), BeforeValidator(partial(integer, maximum=MOST_VALIDITY_DAYS))]
Order = Annotated[int, Field(ge=1, le=MOST_ORDER), BeforeValidator(partial(integer, maximum=MOST_ORDER))]
Page = Annotated[int, Field(ge=1, le=MOST_PAGES), BeforeValidator(partial(integer, maximum=MOST_PAGES))]
# Negative numbers are refused where the stamp is placed, with a sentence that names the page.
Point = Annotated[
    float, PlainValidator(number), WithJsonSchema({"type": "number", "minimum": 0, "exclusiveMaximum": 1e9})
]
Width = Annotated[
    float, Field(ge=WIDTHS[0], le=WIDTHS[1]), BeforeValidator(partial(number, minimum=WIDTHS[0], maximum=WIDTHS[1]))
]
Height = Annotated[
    float, Field(ge=HEIGHTS[0], le=HEIGHTS[1]), BeforeValidator(partial(number, minimum=HEIGHTS[0], maximum=HEIGHTS[1]))
]


class Input(BaseModel):
    model_config = ConfigDict(strict=True)

    @classmethod
    def without_nulls(cls, value: dict[str, Any]) -> dict[str, Any]:
        """Leave out the fields that are null and count as absent then."""
        nullable = {name for name, field in cls.model_fields.items() if OrNull in field.metadata}
        return {name: each for name, each in value.items() if each is not None or name not in nullable}

    @model_validator(mode="before")
    @classmethod
    def _prepare(cls, value: Any) -> Any:
        return cls.without_nulls(value) if isinstance(value, dict) else value


class ClosedInput(Input):
    """A shape with no fields but its own."""

    model_config = ConfigDict(extra="forbid")
