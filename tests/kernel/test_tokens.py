"""Randomness, derived keys, encryption at rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraph.kernel import tokens


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


def test_purposes_do_not_meet() -> None:
    assert tokens.derive(b"master", "a") != tokens.derive(b"master", "b")
    assert tokens.keyed_hash(b"k", b"ab", b"c") != tokens.keyed_hash(b"k", b"a", b"bc")


def test_forms() -> None:
    assert len(tokens.random_hex(32)) == 64
    assert len({tokens.random_digits(6) for _ in range(100)}) > 90
    assert all(len(tokens.random_digits(6)) == 6 for _ in range(100))


@given(st.binary())
def test_base64url_comes_back(content: bytes) -> None:
    assert tokens.from_base64url(tokens.base64url(content)) == content
