"""The metadata of a journal entry in the words of the proof's language."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from paraph import words as catalog
from paraph.pdf.typesetting.proof_words import named
from paraph.words import Words, phrase

_ALIKE = {
    "meta_provider": "meta_channel",
    "meta_recipients": "meta_recipient",
    "meta_signed_pdf_sha256": "sealed",
    "meta_uploaded_pdf_sha256": "uploaded",
}
"""Names that are called as others are."""


def metadata_label(name: str, words: Words) -> str:
    """Returns what the language calls a metadata key; its own name where it has no word for it."""
    key = f"meta_{name}"
    return str(words.get(_ALIKE.get(key, key), name.replace("_", " ")))


def metadata_values(key: str, value: Any, words: Words) -> Iterator[str]:
    """Yields a metadata value as text. Empty values are in evidence.json alone."""
    if key == "documents" and isinstance(value, list):
        yield from (_remarks(noted, words) for noted in value)
    elif key == "prepared_documents" and isinstance(value, list):
        yield from (_prepared(noted, words) for noted in value)
    elif isinstance(value, str) and key in _VALUES:
        yield _VALUES[key](value, words)
    elif isinstance(value, bool):
        yield words["yes" if value else "no"]
    elif isinstance(value, list) and all(isinstance(item, str) for item in value):
        yield from value
    elif isinstance(value, Mapping | list):
        yield json.dumps(value, ensure_ascii=False, sort_keys=True)
    elif value is not None and value != "":
        yield str(value)


def _remarks(noted: Mapping[str, Any], words: Words) -> str:
    """Writes the journal’s note on a document that can look different than on the signer’s page."""
    remarks = []
    if pages := noted.get("prints_differently"):
        remarks.append(phrase(words, "prints_differently", pages=", ".join(map(str, pages))))
    if unknown := noted.get("print_unknown"):
        remarks.append(phrase(words, "print_unknown", pages=unknown))
    if parts := noted.get("can_change"):
        remarks.append(phrase(words, "can_change", parts=", ".join(_part(name, words) for name in parts)))
    return phrase(words, "remarks", number=noted.get("document_id"), remarks="; ".join(remarks))


def _part(name: str, words: Words) -> str:
    """Returns what the signer's page calls a part that can change, and the proof where the page has no word for it."""
    page = catalog.of("page", words["locale"])
    return str(page.get(name) or named(words, "part", name))


def _prepared(noted: Mapping[str, Any], words: Words) -> str:
    """Writes the journal’s note on a document that could not be sealed as it was uploaded."""
    return phrase(
        words,
        "prepared",
        number=noted.get("document_id"),
        size=noted.get("prepared_pdf_size"),
        digest=noted.get("prepared_pdf_sha256"),
    )


def _acknowledgement(text: str, words: Words) -> str:
    """Says which message was delivered: a number of the sandbox's inbox, or what the mail server or operator gave."""
    inbox, _, number = text.partition(":")
    return phrase(words, "captured_message", number=number) if inbox == "captured" else text


_VALUES: Mapping[str, Callable[[str, Words], str]] = {
    "acknowledgement": _acknowledgement,
    "channel": lambda name, words: named(words, "channel", name),
    "provider": lambda name, words: named(words, "channel", name),
    "mode": lambda name, words: named(words, "mode", name),
}
"""Values that have words of their own, by their key."""
