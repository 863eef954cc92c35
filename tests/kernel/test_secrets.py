"""The secret that all other keys derive from: made by several at once too; randomness, derived keys, encryption at
rest."""

import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.secrets import Secrets, earlier_master_keys, fingerprint, read_master_key


@given(st.binary(), st.binary())
def test_what_is_encrypted_comes_back_with_its_context_only(plain: bytes, context: bytes) -> None:
    key = tokens.derive(b"master", "test")
    sealed = tokens.encrypt(key, plain, context)
    assert tokens.decrypt(key, sealed, context) == plain
    changed = sealed[:-1] + bytes([sealed[-1] ^ 1])
    other = tokens.derive(b"master", "other")
    for attempt in ((other, sealed, context), (key, sealed, context + b"x"), (key, changed, context)):
        with pytest.raises(ValueError, match="does not open"):
            tokens.decrypt(*attempt)


def test_purposes_do_not_meet_and_values_have_their_form() -> None:
    assert tokens.derive(b"master", "a") != tokens.derive(b"master", "b")
    assert tokens.keyed_hash(b"k", b"ab", b"c") != tokens.keyed_hash(b"k", b"a", b"bc")
    assert len(tokens.random_hex(32)) == 64
    digits = {tokens.random_digits(6) for _ in range(100)}
    assert len(digits) > 90 and {len(each) for each in digits} == {6}


@given(st.binary())
def test_base64url_comes_back(content: bytes) -> None:
    assert tokens.from_base64url(tokens.base64url(content)) == content


def test_it_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    first = read_master_key(tmp_path, "")
    assert read_master_key(tmp_path, "") == first
    assert stat.S_IMODE((tmp_path / "secret.key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret.key"]


def test_the_environment_wins_and_what_cannot_be_used_gets_a_sentence(tmp_path: Path) -> None:
    assert read_master_key(tmp_path, "x" * 32) == b"x" * 32
    with pytest.raises(DomainError, match="at least 32 characters"):
        read_master_key(tmp_path, "short")
    (tmp_path / "file").write_text("")
    with pytest.raises(DomainError, match="cannot be read or made: File exists"):
        read_master_key(tmp_path / "file", "")


def test_those_who_start_together_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: read_master_key(tmp_path / "data", ""), range(32)))
    assert len(keys) == 1


OLD, NEW = b"o" * 40, b"n" * 40


def secrets(in_use: Callable[[], bytes | None]) -> Secrets:
    return Secrets(NEW, [OLD], in_use)


def test_new_values_are_made_with_the_secret_in_use() -> None:
    in_use = [fingerprint(OLD)]
    both = secrets(lambda: in_use[0])
    sealed = both.encrypt("purpose", b"plain")
    assert Secrets(OLD).decrypt("purpose", sealed) == b"plain"
    assert both.key("purpose") == Secrets(OLD).key("purpose")
    in_use[0] = fingerprint(NEW)
    assert both.keys("purpose") == [Secrets(NEW).key("purpose"), Secrets(OLD).key("purpose")]
    assert both.decrypt("purpose", sealed) == b"plain"
    renewed = both.renewed("purpose", sealed)
    assert renewed and Secrets(NEW).decrypt("purpose", renewed) == b"plain"
    assert both.renewed("purpose", renewed) is None


def test_what_no_secret_opens_raises_and_one_secret_asks_nobody_which_is_in_use() -> None:
    def nobody() -> bytes:
        raise AssertionError

    alone = Secrets(NEW, [NEW], nobody)
    assert not alone.several and alone.decrypt("p", alone.encrypt("p", b"x")) == b"x"
    sealed = Secrets(b"another").encrypt("purpose", b"plain")
    both = secrets(lambda: None)
    for call in (both.decrypt, both.renewed):
        with pytest.raises(ValueError, match="does not open"):
            call("purpose", sealed)
    with pytest.raises(ValueError, match="does not open"):
        both.decrypt("another purpose", both.encrypt("purpose", b"plain"))


def test_earlier_secrets_come_from_the_environment_and_from_a_file(tmp_path: Path) -> None:
    assert earlier_master_keys(tmp_path, []) == []
    (tmp_path / "secret.previous").write_bytes(OLD + b"\n" + NEW)
    assert earlier_master_keys(tmp_path, ["e" * 32]) == [b"e" * 32, OLD, NEW]
    with pytest.raises(DomainError, match="at least 32 characters"):
        earlier_master_keys(tmp_path, ["short"])
