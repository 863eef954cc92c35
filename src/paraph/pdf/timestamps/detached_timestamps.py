"""Detached timestamps: kept beside a sealed file, which never changes.

One is added where the seal got no timestamp, and later ones before the newest expires. Each is an RFC 3161 token over
the file followed by all earlier records, so that a renewal preserves these as well. OpenSSL checks every one of them:
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

from paraph.kernel import bounded_json
from paraph.pdf.pki.certificate import Untrusted, check_chain, end_of
from paraph.pdf.pki.oids import finished
from paraph.pdf.pki.revocation import LongTermData, Revoked
from paraph.pdf.report import SealTimestamp
from paraph.pdf.timestamps.timestamp import TokenMismatch, TokenRefused, check_token
from paraph.pdf.verdict import Fault

FORMAT = "paraph-timestamps/1"
START_OF_TOKEN = b"\x30"
_LISTS = ("certificates", "crls", "ocsps")
_MOST_PARTS, _MOST_VALUES = 100_000, 1_000_000


class DetachedTimestampsRefused(ValueError):
    """The detached timestamps cannot be read; the message is one sentence."""


@dataclass(frozen=True)
class DetachedTimestamp:
    """A token (DER), and the statuses of the seal's and the authorities' certificates at its time."""

    token: bytes
    statuses: LongTermData = LongTermData()  # noqa: RUF009  frozen

    @property
    def encoded(self) -> bytes:
        """The bytes that later tokens cover: the token, certificates, CRLs and OCSP answers, each as DER."""
        return b"".join((self.token, *(item for items in self.statuses.lists for item in items)))

    def to_json(self) -> dict[str, Any]:
        lists = zip(_LISTS, self.statuses.lists, strict=True)
        return {"token": _text(self.token), **{name: [_text(item) for item in items] for name, items in lists}}


def detached_timestamp_from_json(value: Mapping[str, Any]) -> DetachedTimestamp:
    """Reverse :meth:`DetachedTimestamp.to_json`. Raise :class:`DetachedTimestampsRefused`."""
    try:
        lists = (tuple(_bytes(item) for item in value.get(name, ())) for name in _LISTS)
        return DetachedTimestamp(_bytes(value["token"]), LongTermData(*lists))
    except (KeyError, TypeError, AttributeError, ValueError, binascii.Error) as error:
        raise DetachedTimestampsRefused("A record of the timestamps is not what it must be.") from error


def imprint(pdf: bytes, earlier: Iterable[DetachedTimestamp], algorithm: str = "sha256") -> bytes:
    """Return the digest that the next token covers: of the file and all earlier records."""
    hash_ = hashlib.new(algorithm, pdf)
    for record in earlier:
        hash_.update(record.encoded)
    return finished(hash_)


def timestamps_file(records: Mapping[bytes, tuple[str, Sequence[DetachedTimestamp]]]) -> bytes:
    """Write the JSON file for ``paraph verify --evidence``. ``records``: name and timestamps by a file's SHA-256."""
    files = [
        {"sha256": digest.hex(), "name": name, "records": [record.to_json() for record in of_file]}
        for digest, (name, of_file) in records.items()
    ]
    return json.dumps({"format": FORMAT, "files": files}, ensure_ascii=False, indent=1).encode()


def read_timestamps_file(
    content: bytes, sealed: bytes, earlier: Sequence[DetachedTimestamp] = ()
) -> tuple[DetachedTimestamp, ...]:
    """Read the timestamps of a sealed file from such a JSON file, or from a lone token (DER); an empty tuple where
    the JSON has none for this file, or the token is not over this file and the ``earlier`` timestamps. Raise
    :class:`DetachedTimestampsRefused`."""
    if content[:1] == START_OF_TOKEN:
        try:
            check_token(content, partial(imprint, sealed, earlier))
        except TokenMismatch:
            return ()
        except TokenRefused:
            pass  # the check of the file tells why
        return (DetachedTimestamp(content),)
    try:
        value = bounded_json.loads(content, _MOST_PARTS, comma_limit=_MOST_VALUES)
        if value["format"] != FORMAT:
            raise DetachedTimestampsRefused("The timestamps are of a form that is not known.")
        found = [file["records"] for file in value["files"] if file["sha256"] == hashlib.sha256(sealed).hexdigest()]
        return tuple(detached_timestamp_from_json(record) for records in found for record in records)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, DetachedTimestampsRefused):
            raise
        raise DetachedTimestampsRefused("The timestamps are neither JSON of paraph nor a token.") from error


@dataclass(frozen=True)
class DetachedTimestampsCheck:
    """What the detached timestamps of a file prove."""

    timestamps: tuple[SealTimestamp, ...] = ()
    """The timestamps that hold and are trusted, in order."""
    statuses: LongTermData = LongTermData()  # noqa: RUF009  frozen
    """The statuses that came with the timestamps."""
    ends: tuple[datetime, ...] = ()
    """For each timestamp, when the first certificate of its chain expires."""
    fault: Fault | None = None
    """What does not hold. It says nothing about the file, except that a proof of its existence is missing."""

    @property
    def times(self) -> list[datetime]:
        """The times that the timestamps prove, in order."""
        return [timestamp.time for timestamp in self.timestamps]


def check_detached_timestamps(
    pdf: bytes, records: Sequence[DetachedTimestamp], roots: Sequence[bytes]
) -> DetachedTimestampsCheck:
    """Check each record against the file and the records before it, up to the first that does not hold."""
    timestamps, ends, data = list[SealTimestamp](), list[datetime](), LongTermData()
    for position, record in enumerate(records):
        earlier = records[:position]
        try:
            token = check_token(record.token, partial(imprint, pdf, earlier))
            known = sum((each.statuses for each in records[position:]), data)
            chain = check_chain(token.signer, (*token.certificates, *known.certificates), roots, token.time)
            known.proves(chain, token.time)
            if timestamps and token.time < timestamps[-1].time:
                raise TokenRefused("it is older than the one before it")
        except (TokenRefused, Untrusted, Revoked) as error:
            fault = Fault("NO_POE", f"Timestamp {position + 1} beside the file does not count: {error}.")
            return DetachedTimestampsCheck(tuple(timestamps), data, tuple(ends), fault)
        data += record.statuses
        timestamps.append(SealTimestamp(token.authority, token.time, token.policy_oid, trusted=True))
        ends.append(end_of(chain))
    return DetachedTimestampsCheck(tuple(timestamps), data, tuple(ends))


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
