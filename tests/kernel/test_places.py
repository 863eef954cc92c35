"""How many threads of a web process do expensive work, or wait for a machine of others."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Protocol

import pytest

from paraph.kernel import bounded_json
from paraph.kernel.places import (
    NoPlaceError,
    configure,
    expensive_work,
    machine_of_others,
    name_tenant,
    on_behalf_of_nobody,
)
from paraph.pdf.typesetting.field_values import FieldContent, field_picture
from tests.kernel.others import in_thread


@pytest.fixture(autouse=True)
def afterwards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("paraph.kernel.places.PATIENCE_SECONDS", 0.05)
    yield
    configure(None)
    name_tenant("")


class Kind(Protocol):
    def __call__(self, tenant_key: str) -> AbstractContextManager[None]: ...


def has_place(kind: Kind, tenant_key: str) -> bool:
    try:
        with kind(tenant_key):
            return True
    except NoPlaceError:
        return False


@pytest.mark.parametrize("kind", [expensive_work, machine_of_others])
def test_one_tenant_never_keeps_another_from_working(kind: Kind) -> None:
    for threads in (4, 8, 16):
        configure(threads)
        with ExitStack() as held:
            while in_thread(lambda: has_place(kind, "hog")):
                in_thread(lambda: held.enter_context(kind("hog")))
            assert in_thread(lambda: has_place(kind, "other")), threads


def test_neither_takes_places_of_the_other() -> None:
    configure(8)
    with machine_of_others("a"), expensive_work("a"):
        pass


def test_nothing_is_bounded_where_nobody_says_how_many_threads_there_are() -> None:
    with ExitStack() as held:
        for _ in range(20):
            held.enter_context(expensive_work())
            held.enter_context(machine_of_others(""))


def test_work_within_work_takes_no_other_place() -> None:
    configure(8)
    with expensive_work("a"), expensive_work("a"), expensive_work("a"):
        pass


@pytest.mark.parametrize("kind", [expensive_work, machine_of_others])
def test_in_a_web_process_everything_is_done_on_behalf_of_a_tenant(kind: Kind) -> None:
    configure(8)
    with pytest.raises(ValueError, match="on behalf of a tenant"), kind(""):
        pass
    with on_behalf_of_nobody():
        name_tenant("a")
        with kind(""):
            pass
    with pytest.raises(ValueError, match="on behalf of a tenant"), kind(""):
        pass


def test_a_place_can_be_held_until_the_request_is_answered() -> None:
    configure(8)
    with on_behalf_of_nobody():
        name_tenant("a")
        bounded_json.loads(b"[" + b" " * 100_000 + b"]", 1)
        assert not in_thread(lambda: has_place(expensive_work, "a")), "a large body is expensive"
        assert in_thread(lambda: has_place(expensive_work, "b"))
    assert in_thread(lambda: has_place(expensive_work, "a"))


def test_typesetting_holds_a_place() -> None:
    configure(8)
    with ExitStack() as held:
        in_thread(lambda: held.enter_context(expensive_work("a")))
        name_tenant("a")
        with pytest.raises(NoPlaceError):
            field_picture(FieldContent(100, 20, "x"))
        name_tenant("b")
        assert field_picture(FieldContent(100, 20, "x"))
