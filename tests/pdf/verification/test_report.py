"""The JSON of ``paraph verify --json``, whose keys programs rely on."""

import json
from datetime import UTC, datetime

from paraph.pdf.report import SealTimestamp, SignatureReport, Verification

AT = datetime(2026, 11, 21, 14, 5, 9, 123456, tzinfo=UTC)
STAMP = SealTimestamp("Authority", AT, "1.2.3", trusted=True)
SIGNATURE = SignatureReport(
    "Seal",
    "seal",
    "Acme",
    None,
    None,
    None,
    True,
    True,
    True,
    "whole file",
    AT,
    STAMP,
    "B-T",
    False,
    ("one",),
    ("two",),
)


def test_a_verification_has_these_keys_in_this_order() -> None:
    told = Verification(
        intact=True, trusted=True, covers_whole_file=True, detached_timestamps=[STAMP], signatures=[SIGNATURE]
    ).to_json()
    assert list(told) == [
        *("ok", "intact", "trusted", "covers_whole_file", "altered", "earlier_match", "signer", "certificate", "root"),
        *("as_asked", "purpose", "signed_at", "timestamp", "level", "changes", "findings", "signatures"),
        "kept_timestamps",
    ]
    assert told["ok"] is True and told["timestamp"] is None and json.loads(json.dumps(told)) == told


def test_a_signature_has_these_keys_and_times_in_utc() -> None:
    timestamp = {"authority": "Authority", "time": "2026-11-21T14:05:09.123Z", "policy_oid": "1.2.3", "trusted": True}
    assert SIGNATURE.to_json() == {
        "field": "Seal",
        "kind": "seal",
        "signer": "Acme",
        "certificate": None,
        "root": None,
        "purpose": None,
        "intact": True,
        "matches": True,
        "trusted": True,
        "coverage": "whole file",
        "claimed_at": "2026-11-21T14:05:09.123Z",
        "timestamp": timestamp,
        "level": "B-T",
        "altered": False,
        "changes": ["one"],
        "findings": ["two"],
    }
