"""The chain of a journal whose hashes cover commitments, computed here as docs/verifying.md describes it."""

import hashlib
import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from paraph.pdf.report import EvidenceCheck
from paraph.pdf.verification.proof_file import check_journal

Journal = list[dict[str, Any]]
SALTS = {"ip": "00" * 16, "metadata/recipient": "11" * 16, "metadata/recipients/1": "22" * 16}


def commitment(salt: str, value: str) -> str:
    return hashlib.sha256(bytes.fromhex(salt) + value.encode()).hexdigest()


def journal() -> Journal:
    """A plain entry, and one with commitments."""
    plain = {"position": 1, "ip": "", "metadata": {}, "previous_hash": "00" * 32}
    first = {**plain, "hash": hashed(plain)}
    stated: dict[str, Any] = {
        "format": 2,
        "position": 2,
        "ip": "203.0.113.9",
        "metadata": {"recipient": "Zoë@example.com", "recipients": ["a@example.com", "b@example.com"], "resend": False},
        "previous_hash": first["hash"],
    }
    covered: dict[str, Any] = deepcopy(stated)
    covered["ip"] = commitment(SALTS["ip"], "203.0.113.9")
    covered["metadata"]["recipient"] = commitment(SALTS["metadata/recipient"], "Zoë@example.com")
    covered["metadata"]["recipients"][1] = commitment(SALTS["metadata/recipients/1"], "b@example.com")
    return [first, {**stated, "salts": dict(SALTS), "hash": hashed(covered)}]


def hashed(facts: dict[str, Any]) -> str:
    line = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(line.encode()).hexdigest()


def checked(entries: Journal) -> EvidenceCheck:
    result = EvidenceCheck()
    check_journal(result, entries, entries[-1]["hash"])
    return result


def test_it_follows_and_is_left_as_it_was() -> None:
    entries = journal()
    assert checked(entries).problems == []
    assert entries == journal()


def _without_salts(entries: Journal) -> None:
    del entries[1]["salts"]


def _other_ip(entries: Journal) -> None:
    entries[1]["ip"] = "203.0.113.8"


def _other_recipient(entries: Journal) -> None:
    entries[1]["metadata"]["recipients"][1] = "c@example.com"


def _other_salt(entries: Journal) -> None:
    entries[1]["salts"]["ip"] = "01" * 16


def _other_plain_value(entries: Journal) -> None:
    entries[1]["metadata"]["resend"] = True


def _commitment_in_place(entries: Journal) -> None:
    entries[1]["metadata"]["recipients"][0] = commitment("33" * 16, "a@example.com")
    entries[1]["salts"]["metadata/recipients/0"] = "33" * 16


@pytest.mark.parametrize(
    "change",
    [_without_salts, _other_ip, _other_recipient, _other_salt, _other_plain_value, _commitment_in_place],
)
def test_whatever_is_changed_breaks_it(change: Callable[[Journal], None]) -> None:
    entries = journal()
    change(entries)
    assert checked(entries).problems == ["The journal is broken at entry 2."]
