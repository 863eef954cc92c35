"""Tokens are verified in full: each way to be wrong is refused with its reason, and the next authority is asked."""

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from asn1crypto import tsp
from cryptography.x509.oid import ExtendedKeyUsageOID

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.keys import development_authority
from paraph.pdf.timestamps.timestamp import (
    AuthorityFailed,
    TimestampAuthority,
    Timestamping,
    TokenRefused,
    check_token,
    stamp_time,
)
from tests.pdf import forge
from tests.pdf.forge import POLICY, Forge, Scheme

SCHEMES: tuple[Scheme, ...] = ("pkcs1", "pss", "ecdsa")
DIGEST = hashlib.sha256(b"a seal's signature value").digest()


def trusting(*authorities: TimestampAuthority, **arguments: Any) -> Timestamping:
    return Timestamping(authorities, [forge.der_of(forge.root())], **arguments)


RIGHT = [Forge(scheme=scheme, hash_=hash_) for scheme in SCHEMES for hash_ in ("sha256", "sha384", "sha512")]


@pytest.mark.parametrize("authority", [*RIGHT, Forge(status=1), Forge(named="v1")])
def test_right_tokens_pass(authority: Forge) -> None:
    stamp, failures = stamp_time(DIGEST, trusting(authority))
    assert failures == []
    assert stamp is not None
    assert (stamp.authority, stamp.policy_oid, stamp.url) == ("Test Timestamps", POLICY, "forge")


@pytest.mark.parametrize("algorithm", ["sha256", "sha384", "sha512"])
def test_the_request_says_what_is_stamped(algorithm: str) -> None:
    authority, digest = Forge(), hashlib.new(algorithm, b"content").digest()
    stamp, _ = stamp_time(digest, trusting(authority))
    assert stamp is not None
    request = tsp.TimeStampReq.load(authority.asked[0], strict=True)
    assert request["version"].native == "v1" and request["cert_req"].native is True
    assert request["message_imprint"]["hash_algorithm"]["algorithm"].native == algorithm
    assert request["message_imprint"]["hashed_message"].native == digest
    stamp_time(digest, trusting(authority))
    assert tsp.TimeStampReq.load(authority.asked[1])["nonce"].native != request["nonce"].native


def flip(token_part: int) -> Any:
    def tamper(answer: bytes) -> bytes:
        changed = bytearray(answer)
        changed[token_part] ^= 1
        return bytes(changed)

    return tamper


_OTHER = {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": hashlib.sha256(b"other").digest()}
_LONGER = {"hash_algorithm": {"algorithm": "sha512"}, "hashed_message": hashlib.sha512(b"other").digest()}
_SHA1 = {"hash_algorithm": {"algorithm": "sha1"}, "hashed_message": hashlib.sha1(b"other").digest()}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"info": {"message_imprint": _OTHER}}, "a timestamp of something else"),
        ({"info": {"message_imprint": _LONGER}}, "a timestamp of something else"),
        ({"info": {"message_imprint": _SHA1}}, "it is a timestamp of something else"),
        ({"info": {"nonce": 1}}, "answers another request"),
        ({"info": {"nonce": None}}, "answers another request"),
        ({"info": {"version": 2}}, "version that is not known"),
        ({"info": {"gen_time": forge.long_ago()}}, "its certificate was not valid at the time it states"),
        ({"wrong_certificate": {"end": timedelta(hours=-1)}}, "not valid at the time"),
        ({"wrong_certificate": {"start": timedelta(hours=1)}}, "not valid at the time"),
        ({"wrong_certificate": {"purposes": []}}, "not one for timestamps alone"),
        ({"wrong_certificate": {"critical": False}}, "not one for timestamps alone"),
        ({"wrong_certificate": {"purposes": [ExtendedKeyUsageOID.CODE_SIGNING]}}, "not one for timestamps alone"),
        (
            {"wrong_certificate": {"purposes": [ExtendedKeyUsageOID.TIME_STAMPING, ExtendedKeyUsageOID.CODE_SIGNING]}},
            "not one for timestamps alone",
        ),
        ({"with_middle": False}, "does not chain to a trusted root"),
        ({"named": "none"}, "does not name its certificate"),
        ({"named": "other"}, "names another certificate"),
        ({"hash_": "sha1"}, "the hash SHA-1 is not accepted"),
        ({"hash_": "sha3_256"}, "the service does not write the hash sha3_256"),  # it reads such seals of others
        ({"content_type": "data"}, "it is not a timestamp token"),
        ({"status": 2, "failure": "bad_alg", "text": "no thanks"}, 'refused, "no thanks", the hash is not accepted'),
        ({"status": 2, "failure": "system_failure"}, "it has a fault of its own"),
        ({"status": 3}, "is waiting"),
        ({"tamper": flip(-1)}, "does not belong to its certificate's key"),
        ({"tamper": lambda answer: b"<html>"}, "not one of a timestamp authority"),
        ({"tamper": lambda answer: b""}, "not one of a timestamp authority"),
        ({"tamper": lambda answer: answer[:-5]}, "not one of a timestamp authority"),
        ({"tamper": lambda answer: answer + b"\0"}, "not one of a timestamp authority"),
        ({"tamper": lambda answer: b"\x30\x05\x30\x03\x02\x01\x00"}, "granted but has no token"),
        ({"tamper": lambda answer: b"\x30\x09\x30\x03\x02\x01\x00\x30\x02\x05\x00"}, "cannot be read"),
    ],
)
def test_wrong_tokens_are_refused_with_the_reason(wrong: dict[str, Any], reason: str) -> None:
    stamp, failures = stamp_time(DIGEST, trusting(Forge(**wrong)))
    assert stamp is None
    assert len(failures) == 1 and failures[0].startswith("forge gave no usable timestamp: ")
    assert reason in failures[0]


def test_a_clock_that_is_far_off_is_refused() -> None:
    authority = Forge(info={"gen_time": forge.long_ago()}, wrong_certificate={"start": timedelta(days=-365 * 30)})
    stamp, failures = stamp_time(DIGEST, trusting(authority))
    assert stamp is None and "more than a day away from this machine's clock" in failures[0]


def test_another_root_is_not_trusted(tmp_path: Any) -> None:
    other = development_authority(tmp_path, b"s" * 32).root
    stamp, failures = stamp_time(DIGEST, Timestamping([Forge()], [other]))
    assert stamp is None and "does not chain to a trusted root" in failures[0]
    stamp, failures = stamp_time(DIGEST, Timestamping([Forge()], []))
    assert stamp is None and "no root is trusted" in failures[0]


def test_a_flipped_bit_anywhere_in_a_token_is_noticed() -> None:
    """But for the certificate above the signer's, where a copy that no longer chains to a root is refused elsewhere,
    and version 1 in place of 3, as some programs write."""
    info = tsp.TSTInfo(
        {
            "version": "v1",
            "policy": POLICY,
            "message_imprint": {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": DIGEST},
            "serial_number": 7,
            "gen_time": clock.now(),
        }
    )
    token = Forge().token(info.dump()).dump()
    assert check_token(token, digest_only).authority == "Test Timestamps"
    above = forge.der_of(forge.middle())
    passed_over = {token.index(b"\x02\x01\x03") + 2, *range(token.index(above), token.index(above) + len(above))}
    unnoticed = [
        (place, bit)
        for place in set(range(len(token))) - passed_over
        for bit in range(8)
        if not refused(token[:place] + bytes([token[place] ^ 1 << bit]) + token[place + 1 :])
    ]
    assert unnoticed == []


def digest_only(name: str) -> bytes:
    return DIGEST if name == "sha256" else b""


def refused(token: bytes) -> bool:
    try:
        check_token(token, digest_only)
    except TokenRefused:
        return True
    return False


class Failing:
    name = "failing"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def answer(self, request: bytes, timeout: float) -> bytes:
        raise self.error


def test_the_next_authority_is_asked_in_order() -> None:
    first, second, third = Forge(status=2, name="first"), Forge(name="second"), Forge(name="third")
    stamp, failures = stamp_time(DIGEST, trusting(Failing(AuthorityFailed("it is down")), first, second, third))
    assert stamp is not None and stamp.url == "second"
    assert failures[0] == "failing gave no usable timestamp: it is down."
    assert failures[1].startswith("first gave no usable timestamp: the authority refused")
    assert len(failures) == 2 and not third.asked


def test_no_authority_is_left() -> None:
    down = Failing(DomainError("configuration", "The key has expired."))
    assert stamp_time(DIGEST, trusting(down)) == (None, ["failing gave no usable timestamp: The key has expired."])
    assert stamp_time(DIGEST, trusting()) == (None, [])


def test_the_budget_is_for_all_of_them() -> None:
    given: list[float] = []

    class Slow(Forge):
        def answer(self, request: bytes, timeout: float) -> bytes:
            given.append(timeout)
            raise AuthorityFailed("too slow")

    stamp_time(DIGEST, trusting(Slow(), Slow(), Slow(), budget_seconds=9))
    assert given == pytest.approx([3, 4.5, 9], abs=0.2)
    stamp, failures = stamp_time(DIGEST, trusting(Slow(name="late"), budget_seconds=0))
    assert stamp is None and failures == ["late was not asked: the time for timestamps was used up."]
