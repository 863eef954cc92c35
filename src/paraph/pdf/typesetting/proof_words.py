"""The words of stamps, proofs and journal entries in a language, and exact times, written the same in all languages."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from babel.dates import format_skeleton

from paraph import words as catalog
from paraph.pdf.typesetting.glyph_fallback import template_text
from paraph.words import Words, phrase

_ALIKE = {
    "meta_provider": "meta_channel",
    "meta_recipients": "meta_recipient",
    "meta_signed_pdf_sha256": "sealed",
    "meta_uploaded_pdf_sha256": "uploaded",
}
"""Keys that share the word of another key."""
_CORRECTED = {
    "first_name": "name",
    "last_name": "name",
    "email": "email",
    "phone": "phone",
    "otp_channel": "code",
    "language": "meta_locale",
}
"""The key of the word for each value of a signer."""
_NAMED = {"channel": "channel", "provider": "channel", "mode": "mode"}
"""The keys whose values have words of their own, each with the kind of those words."""
_CAPTURED = "captured:"


def words_of(theme: str, locale: str) -> Words:
    """Return the words of a theme for ``locale`` ("fr", "fr-CA", "fr_CA"); English for unknown languages."""
    return catalog.of(theme, language_of(locale))


def moment(at: datetime, locale: str) -> str:
    """Write date and time with the timezone's name: ``21 Nov 2026, 14:05:09 UTC``. ``at`` must be aware."""
    language = language_of(locale)
    date = format_skeleton("yMMMd", at, locale="en_GB" if language == "en" else language)
    comma = "،" if catalog.direction(language) == "rtl" else ","
    return f"{date}{comma} {at:%H:%M:%S} {at.tzname()}"


def language_of(locale: str) -> str:
    code = locale.replace("_", "-").split("-")[0].lower()
    return code if code in catalog.LOCALES else "en"


def named(words: Words, kind: str, name: str) -> str:
    """Return the language's word for one of the journal's names, such as "sms" of the kind "channel", else the name."""
    return str(words.get(f"{kind}_{name}", name))


def sentence(text: str, words: Words) -> str | dict[str, Any]:
    """Prepare ``text`` in the proof's language for the templates' ``write``: it goes in the direction of the language,
    even where it begins with Latin letters."""
    prepared = template_text(text)
    if isinstance(prepared, str) or catalog.direction(words["locale"]) == "ltr":
        return prepared
    return {"text": prepared["text"], "cjk": prepared["cjk"], "rtl": True}


def milliseconds(at: datetime) -> str:
    """Write a time as ``2026-11-21 14:05:09.123 UTC``, which ``paraph verify`` looks for in proofs of any language."""
    return f"{day(at)} {time_of_day(at)} UTC"


def day(at: datetime) -> str:
    """Write a day as ``2026-11-21``, in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d}"


def time_of_day(at: datetime) -> str:
    """Write a time as ``14:05:09.123``, in UTC."""
    moment = at.astimezone(UTC)
    return f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03d}"


def metadata_label(name: str, value: Any, words: Words) -> str:
    """Return the language's word for a metadata key, else the key. A captured message is not called confirmed."""
    key = "meta_delivery" if name == "acknowledgement" and _is_captured(value) else f"meta_{name}"
    return str(words.get(_ALIKE.get(key, key), name.replace("_", " ")))


def metadata_values(key: str, facts: Mapping[str, Any], environment: str, words: Words) -> Iterator[str]:
    """Yield the value of a key of an entry's ``facts`` as text. Empty values are in evidence.json alone."""
    value = facts[key]
    if key == "acknowledgement" and _is_captured(value):
        yield _kept(value, facts.get("provider"), environment, words)
    elif key == "documents" and isinstance(value, list):
        yield from (_remarks(noted, words) for noted in value)
    elif key == "prepared_documents" and isinstance(value, list):
        yield from (_prepared(noted, words) for noted in value)
    elif key == "corrected" and isinstance(value, list):
        yield ", ".join(dict.fromkeys(str(words.get(_CORRECTED.get(name, ""), name)) for name in value))
    elif key in ("before", "after") and isinstance(value, Mapping):
        yield from value.values()
    elif key == "fields" and isinstance(value, list):
        yield str(len(value))  # the values stand under a heading of their own
    elif isinstance(value, str) and key in _NAMED:
        yield named(words, _NAMED[key], value)
    elif isinstance(value, bool):
        yield words["yes" if value else "no"]
    elif isinstance(value, list) and all(isinstance(item, str) for item in value):
        yield from value
    elif isinstance(value, Mapping | list):
        yield json.dumps(value, ensure_ascii=False, sort_keys=True)
    elif value is not None and value != "":
        yield str(value)


def _remarks(noted: Mapping[str, Any], words: Words) -> str:
    """Return the journal’s note on a document that can look different than on the signer’s page."""
    remarks = []
    if pages := noted.get("prints_differently"):
        remarks.append(phrase(words, "prints_differently", pages=", ".join(map(str, pages))))
    if unknown := noted.get("print_unknown"):
        remarks.append(phrase(words, "print_unknown", pages=unknown))
    if places := noted.get("drawn_differently"):
        numbers = sorted({place["page_number"] for place in places})
        remarks.append(phrase(words, "drawn_differently", pages=", ".join(map(str, numbers))))
    if seals := noted.get("altered_after_seal"):
        remarks.append(phrase(words, "altered_after_seal", seals=", ".join(seals)))
    if parts := noted.get("can_change"):
        remarks.append(phrase(words, "can_change", parts=", ".join(_part(name, words) for name in parts)))
    return phrase(words, "remarks", number=noted.get("document_id"), remarks="; ".join(remarks))


def _part(name: str, words: Words) -> str:
    """Return what the signer's page calls a part that can change, else what the proof calls it."""
    page = catalog.of("page", words["locale"])
    return str(page.get(name) or named(words, "part", name))


def _prepared(noted: Mapping[str, Any], words: Words) -> str:
    """Return the journal’s note on a document that could not be sealed as it was uploaded."""
    return phrase(
        words,
        "prepared",
        number=noted.get("document_id"),
        size=noted.get("prepared_pdf_size"),
        digest=noted.get("prepared_pdf_sha256"),
    )


def _is_captured(acknowledgement: Any) -> bool:
    return str(acknowledgement).startswith(_CAPTURED)


def _kept(acknowledgement: str, channel: Any, environment: str, words: Words) -> str:
    """Say where a message that went to nobody is kept. Messages of the sandbox may be kept even if there is a gateway
    (``PARAPH_SANDBOX_MAIL``), messages of production only if there is none."""
    name = "kept_sms" if channel == "sms" else "kept_mail"
    number = acknowledgement.removeprefix(_CAPTURED)
    return phrase(words, name if environment == "production" else "captured_message", number=number)
