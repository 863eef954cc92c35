"""What a proof file contains: the evidence attached for programs, the text printed for people, and whether its journal,
signers and pages agree.

pikepdf and PDFium read the file: one from a stranger, within a sandboxed process.
"""

import contextlib
import hashlib
import io
import json
import unicodedata
import zlib
from collections.abc import Iterable, Mapping, Sequence
from ctypes import c_double
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

import pikepdf
import pypdfium2 as pdfium
from pypdfium2 import raw

from paraph.kernel import bounded_json
from paraph.pdf.report import EvidenceCheck, Signed
from paraph.pdf.typesetting import EVIDENCE
from paraph.pdf.typesetting.glyph_fallback import unbroken_parts

WITHOUT_PURPOSE = "paraph-evidence/1"
"""The format of evidence in proofs from before seals stated a purpose."""
_RIGHT_TO_LEFT = ("R", "AL")
_MARKS = ("LRE", "RLE", "LRO", "RLO", "LRI", "RLI", "FSI", "PDF", "PDI", "NSM", "BN")
"""Bidirectional classes of letters written from right to left, and of characters without a place of their own."""
_LARGEST = 16 << 20
_MOST_PARTS, _MOST_VALUES = 200_000, 2_000_000  # of thousands of signers
_MOST_CHARACTERS = 4_000_000  # of the pages of a proof
_FORMATS = (WITHOUT_PURPOSE, "paraph-evidence/2", "paraph-evidence/3")
_SIGNING_EVENT = "signer.signed"  # as the format of the evidence calls it
_AS_ENTERED = ("text", "multiline", "choice", "full_name", "email")  # fields whose value is printed as it is


class UnreadableEvidence(ValueError):
    """Evidence is attached, but takes too much to be read; the message says why."""


def evidence_of(pdf: bytes) -> dict[str, Any] | None:
    """Return the evidence attached to a file; ``None`` where there is none. Raise :class:`UnreadableEvidence`."""
    try:
        with pikepdf.open(io.BytesIO(pdf)) as document:
            content = _inflated(document.attachments[EVIDENCE].get_file().obj)
        evidence = bounded_json.loads(content, _MOST_PARTS, comma_limit=_MOST_VALUES)
    except (UnreadableEvidence, MemoryError):
        raise
    except bounded_json.TooManyError as error:
        raise UnreadableEvidence("it has too many values") from error
    except bounded_json.TooDeepError as error:
        raise UnreadableEvidence("its values are nested too deeply") from error
    except Exception:  # noqa: BLE001 — a hostile file makes the reader raise anything
        return None
    return evidence if isinstance(evidence, dict) and evidence.get("format") in _FORMATS else None


def _inflated(stream: pikepdf.Object) -> bytes:
    """Return the content of the attached file, which proofs hold deflated once at most."""
    filters = stream.get(pikepdf.Name.Filter)
    names = list(filters) if isinstance(filters, pikepdf.Array) else [] if filters is None else [filters]
    if names not in ([], [pikepdf.Name.FlateDecode]) or pikepdf.Name.DecodeParms in stream:
        raise UnreadableEvidence("it is packed otherwise than evidence is")
    content = stream.read_raw_bytes()
    if names:
        content = zlib.decompressobj().decompress(content, _LARGEST + 1)
    if len(content) > _LARGEST:
        raise UnreadableEvidence(f"it is longer than {_LARGEST >> 20} MB")
    return content


def printed_text(pdf: bytes) -> str:
    """Return the text of all pages without white space. Raise :class:`UnreadableEvidence` for too much of it. On a
    page with words from right to left, PDFium turns lines around, addresses and times too. From such a page only the
    other characters are returned, in their order in each line from left to right."""
    pages, left = [], _MOST_CHARACTERS
    with contextlib.closing(pdfium.PdfDocument(pdf)) as document:
        for page in document:
            with contextlib.closing(page), contextlib.closing(page.get_textpage()) as text:
                left -= text.count_chars()
                if left < 0:
                    raise UnreadableEvidence("its pages have too much text")
                pages.append("".join(_page_text(text).split()))
    return "".join(pages)


def _page_text(page: pdfium.PdfTextPage) -> str:
    text = str(page.get_text_range())
    if not any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in text):
        return text
    characters = [chr(raw.FPDFText_GetUnicode(page, index)) for index in range(page.count_chars())]
    lines = groupby(enumerate(characters), key=lambda each: each[1] in "\r\n")
    return "\n".join(_from_left_to_right(page, line) for is_break, line in lines if not is_break)


def _from_left_to_right(page: pdfium.PdfTextPage, line: Iterable[tuple[int, str]]) -> str:
    kept = [
        (_left_edge(page, index), character)
        for index, character in line
        if unicodedata.bidirectional(character) not in (*_RIGHT_TO_LEFT, *_MARKS)
    ]
    return "".join(character for _, character in sorted(kept, key=itemgetter(0)))


def _left_edge(page: pdfium.PdfTextPage, index: int) -> float:
    x, y = c_double(), c_double()
    raw.FPDFText_GetCharOrigin(page, index, x, y)
    return x.value


def check_journal(result: EvidenceCheck, journal: Sequence[Mapping[str, Any]], printed: str) -> None:
    """Note whether each entry carries the hash of the one before it, and the proof prints the last hash.

    The hash of an entry is the SHA-256 of its JSON without ``hash``, keys sorted, no spaces; where it has ``salts``,
    without these, and with each value that has a salt replaced by its commitment. ``printed``: the text of the
    proof without white space.
    """
    broken = first_broken(journal)
    result.note(
        bool(journal) and broken is None,
        f"The journal's {len(journal)} entries follow from each other.",
        f"The journal is broken at entry {broken or 1}.",
        "HASH_FAILURE",
    )
    result.note(
        bool(journal) and journal[-1]["hash"] in printed,
        "The proof prints the journal's last hash.",
        "The proof does not print the journal's last hash.",
    )


def check_signers(
    result: EvidenceCheck, signers: Sequence[Mapping[str, Any]], journal: Sequence[Mapping[str, Any]], printed: str
) -> None:
    """Note whether each signer has signed exactly once, nobody else has, and the proof prints each one's address, and
    when they opened the page and entered wrong codes. ``printed``: the text of the proof without white space. Raise
    ``KeyError`` or ``TypeError`` for incomplete evidence."""
    signed = [entry["signer_id"] for entry in journal if entry["event_type"] == _SIGNING_EVENT]
    names = {signer["id"]: signer["full_name"] for signer in signers}
    for number, name in names.items():
        if signed.count(number) != 1:
            result.fault(f"The journal names {signed.count(number)} signatures by {name}; one is needed.")
    if strangers := sorted(str(number) for number in set(signed) - set(names)):
        result.fault(f"The journal names signatures by others than the signers: {', '.join(strangers)}.")
    if not names:
        result.fault("The proof names no signer.")
    elif sorted(signed) == sorted(names):
        result.matches.append(f"The journal names one signature by each signer: {', '.join(names.values())}.")
        result.signed = [
            Signed(names[entry["signer_id"]], datetime.fromisoformat(entry["created_at"]))
            for entry in journal
            if entry["event_type"] == _SIGNING_EVENT and "created_at" in entry
        ]
    # An address in another script may be printed in transliteration; the evidence has the exact one.
    missing = [s["email"] for s in signers if s["email"].isascii() and "".join(s["email"].split()) not in printed]
    result.note(
        not missing, "The proof prints the address of each signer.", f"The proof does not print {', '.join(missing)}."
    )
    _check_visits(result, signers, printed)
    _check_fields(result, signers, journal, printed)


def _check_fields(
    result: EvidenceCheck, signers: Sequence[Mapping[str, Any]], journal: Sequence[Mapping[str, Any]], printed: str
) -> None:
    """Note whether the values of fields are those of the journal, and the proof prints them. A value in another script
    may be printed in transliteration."""
    journaled = {
        entry["signer_id"]: [_field(each) for each in entry["metadata"].get("fields", [])]
        for entry in journal
        if entry["event_type"] == _SIGNING_EVENT
    }
    stated = {signer["id"]: [_field(each) for each in signer.get("fields", [])] for signer in signers}
    filled = [each for signer in signers for each in signer.get("fields", [])]
    if not filled and not any(journaled.values()):
        return
    result.note(
        all(journaled.get(number, []) == fields for number, fields in stated.items()),
        f"The {len(filled)} values of fields are those that the journal has.",
        "The values of fields are not those that the journal has.",
    )
    other = [each["name"] for each in filled if not _says(each["printed"], each["type"], each["value"])]
    if other:
        result.fault(f"The proof prints another value than the journal has for {', '.join(other)}.")
    missing = [each["name"] for each in filled if not _is_printed(each["printed"], printed)]
    result.note(
        not missing,
        "The proof prints the value of each field.",
        f"The proof does not print the value of {', '.join(missing)}.",
    )


def _field(stated: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(stated[key] for key in ("document_id", "name", "type", "value"))


def _says(printed: str, kind: str, value: str | bool | None) -> bool:
    """Return whether the text is that of the value. Dates and boxes are printed in words of a language, which no proof
    names, so any text will do; of a number only the digits are compared."""
    if value is None or kind in _AS_ENTERED:
        return printed == (value or "")
    return kind != "number" or _digits(printed) == _digits(str(value))


def _digits(number: str) -> tuple[bool, list[int]]:
    """Return whether the number is negative, and its digits, whatever the script."""
    return any(sign in "-\u2212" for sign in number), [unicodedata.decimal(sign) for sign in number if sign.isdecimal()]


def _is_printed(value: str, printed: str) -> bool:
    """Look for the parts of a value: its label may stand between its lines on the page."""
    return not value.isascii() or all(part.strip() in printed for part in unbroken_parts(value))


def first_broken(journal: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the position of the first entry that does not follow from the one before it."""
    previous = "00" * 32
    for position, entry in enumerate(journal, start=1):
        facts = _hashed(entry)
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        computed = hashlib.sha256(text.encode()).hexdigest()
        if facts["position"] != position or facts["previous_hash"] != previous or computed != entry["hash"]:
            return position
        previous = entry["hash"]
    return None


def _hashed(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the hash of the entry covers. A commitment is the SHA-256 of the salt followed by the value."""
    facts: dict[str, Any] = json.loads(json.dumps({key: entry[key] for key in entry if key not in ("hash", "salts")}))
    for path, salt in entry.get("salts", {}).items():
        *way, last = path.split("/")
        holder: Any = facts
        for step in way:
            holder = holder[int(step) if isinstance(holder, list) else step]
        place = int(last) if isinstance(holder, list) else last
        value = holder[place]
        text = value if isinstance(value, str) else json.dumps(value)  # of a checkbox: true or false
        holder[place] = hashlib.sha256(bytes.fromhex(salt) + text.encode()).hexdigest()
    return facts


def _check_visits(result: EvidenceCheck, signers: Sequence[Mapping[str, Any]], printed: str) -> None:
    times = {(signer["full_name"], at) for signer in signers for at in signer.get("refused_codes", [])}
    times |= {(each["full_name"], each["first_opening"]["at"]) for each in signers if "first_opening" in each}
    missing = sorted(f"{name}, {at}" for name, at in times if at.replace("T", "").replace("Z", "UTC") not in printed)
    if times:
        result.note(
            not missing,
            "The proof prints when pages were first opened and which codes were refused.",
            f"The proof does not print an opening of the page or a refused code: {'; '.join(missing)}.",
        )
