"""Timestamps kept beside a file that never changes: one that came late, and renewals before the newest ages out.

Each record is an RFC 3161 token over the file followed by all earlier records, so that a renewal preserves the
timestamps before it as well as the file. OpenSSL can check every one of them:
``cat signed.pdf earlier records | openssl ts -verify -token_in -in token -data /dev/stdin``.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from paraph.pdf.pki.certificate import load
from paraph.pdf.pki.revocation_data import LongTermData, Revoked
from paraph.pdf.pki.trust import Untrusted, check_chain
from paraph.pdf.report import SealTimestamp
from paraph.pdf.timestamps.timestamp_token import TokenRefused, check_token

FORMAT = "paraph-timestamps/1"
_LISTS = ("certificates", "crls", "ocsps")


class DetachedTimestampsRefused(ValueError):
    """The records cannot be read; the message is one sentence."""


@dataclass(frozen=True)
class DetachedTimestamp:
    """A token (DER), and what was known of the certificates of seal and authorities when it came."""

    token: bytes
    statuses: LongTermData = LongTermData()  # noqa: RUF009  frozen

    @property
    def encoded(self) -> bytes:
        """What later records are also over: the token, then certificates, lists and answers, each as DER."""
        return b"".join((self.token, *(item for items in self.statuses.lists for item in items)))

    def to_json(self) -> dict[str, Any]:
        lists = zip(_LISTS, self.statuses.lists, strict=True)
        return {"token": _text(self.token), **{name: [_text(item) for item in items] for name, items in lists}}


def detached_timestamp_from_json(value: Mapping[str, Any]) -> DetachedTimestamp:
    """Raises :class:`DetachedTimestampsRefused`."""
    try:
        lists = (tuple(_bytes(item) for item in value.get(name, ())) for name in _LISTS)
        return DetachedTimestamp(_bytes(value["token"]), LongTermData(*lists))
    except (KeyError, TypeError, AttributeError, ValueError, binascii.Error) as error:
        raise DetachedTimestampsRefused("A record of the timestamps is not what it must be.") from error


def imprint(pdf: bytes, earlier: Iterable[DetachedTimestamp], algorithm: str = "sha256") -> bytes:
    """What the next token is over: the digest of the file and of all earlier records."""
    hash_ = hashlib.new(algorithm, pdf)
    for record in earlier:
        hash_.update(record.encoded)
    return hash_.digest()


def timestamps_file(records: Mapping[bytes, tuple[str, Sequence[DetachedTimestamp]]]) -> bytes:
    """A JSON file for ``paraph verify --evidence``: name and records by the SHA-256 of each file."""
    files = [
        {"sha256": digest.hex(), "name": name, "records": [record.to_json() for record in kept]}
        for digest, (name, kept) in records.items()
    ]
    return json.dumps({"format": FORMAT, "files": files}, ensure_ascii=False, indent=1).encode()


def read_timestamps_file(content: bytes, pdf: bytes) -> tuple[DetachedTimestamp, ...]:
    """The records of ``pdf``: of such a JSON file, or the one token that ``content`` is (DER). Empty where the JSON
    says nothing of this file. Raises :class:`DetachedTimestampsRefused`."""
    if content[:1] == b"\x30":
        return (DetachedTimestamp(content),)
    try:
        value = json.loads(content)
        if value["format"] != FORMAT:
            raise DetachedTimestampsRefused("The timestamps are of a form that is not known.")
        digest = hashlib.sha256(pdf).hexdigest()
        found = [file["records"] for file in value["files"] if file["sha256"] == digest]
        return tuple(detached_timestamp_from_json(record) for records in found for record in records)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, DetachedTimestampsRefused):
            raise
        raise DetachedTimestampsRefused("The timestamps are neither JSON of paraph nor a token.") from error


@dataclass(frozen=True)
class DetachedTimestampsCheck:
    """What records prove of a file. ``times``: of the tokens that hold and are trusted, in order. ``ends``: when the
    certificate of the newest of them ends. ``findings``: a sentence for each thing that does not hold."""

    timestamps: tuple[SealTimestamp, ...] = ()
    statuses: LongTermData = LongTermData()  # noqa: RUF009  frozen
    times: tuple[datetime, ...] = ()
    ends: tuple[datetime, ...] = ()
    findings: tuple[str, ...] = ()


def check_detached_timestamps(
    pdf: bytes, records: Sequence[DetachedTimestamp], roots: Sequence[bytes]
) -> DetachedTimestampsCheck:
    """Checks each record against the file and those before it; the first one that does not hold ends it."""
    timestamps, times, ends, data = list[SealTimestamp](), list[datetime](), list[datetime](), LongTermData()
    for position, record in enumerate(records):
        earlier = records[:position]
        try:
            token = check_token(record.token, partial(imprint, pdf, earlier))
            known = sum((each.statuses for each in records[position:]), data)
            chain = check_chain(token.signer, (*token.certificates, *known.certificates), roots, token.time)
            known.proves(chain, token.time)
            if times and token.time < times[-1]:
                raise TokenRefused("it is older than the one before it")
        except (TokenRefused, Untrusted, Revoked) as error:
            finding = f"Timestamp {position + 1} beside the file does not count: {error}."
            return DetachedTimestampsCheck(tuple(timestamps), data, tuple(times), tuple(ends), (finding,))
        data += record.statuses
        timestamps.append(SealTimestamp(token.authority, token.time, token.policy_oid, trusted=True))
        times.append(token.time)
        ends.append(min(load(link).parsed.not_valid_after_utc for link in chain))
    return DetachedTimestampsCheck(tuple(timestamps), data, tuple(times), tuple(ends))


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
