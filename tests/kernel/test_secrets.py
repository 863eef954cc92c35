"""Several secrets at once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from paraph.kernel.errors import DomainError
from paraph.kernel.secrets import Secrets, earlier_master_keys, fingerprint, write_earlier_master_keys

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


def test_one_secret_asks_nobody_which_is_in_use() -> None:
    def nobody() -> bytes:
        raise AssertionError

    alone = Secrets(NEW, [NEW], nobody)
    assert not alone.several and alone.decrypt("p", alone.encrypt("p", b"x")) == b"x"


def test_what_no_secret_opens_raises() -> None:
    sealed = Secrets(b"another").encrypt("purpose", b"plain")
    both = secrets(lambda: None)
    for call in (both.decrypt, both.renewed):
        with pytest.raises(ValueError, match="does not open"):
            call("purpose", sealed)
    with pytest.raises(ValueError, match="does not open"):
        both.decrypt("another purpose", both.encrypt("purpose", b"plain"))


def test_earlier_secrets_come_from_the_environment_and_from_a_file(tmp_path: Path) -> None:
    assert earlier_master_keys(tmp_path, []) == []
    write_earlier_master_keys(tmp_path, [OLD, NEW])
    assert (tmp_path / "secret.previous").stat().st_mode & 0o077 == 0
    assert earlier_master_keys(tmp_path, ["e" * 32]) == [b"e" * 32, OLD, NEW]
    with pytest.raises(DomainError, match="at least 32 characters"):
        earlier_master_keys(tmp_path, ["short"])
