"""Lists, which the service answers in parts."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from paraph_client.answers import Event
from paraph_client.call import Call, Json
from paraph_client.reading import reader

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
_event = reader(Event)


@dataclass(frozen=True)
class Part(ABC, Generic[T_co]):
    """A part of a list."""

    data: list[T_co]

    @abstractmethod
    def following(self, call: Call[T]) -> Call[T] | None:
        """What asks for the part that follows this one, which ``call`` asked for; None at the end."""


@dataclass(frozen=True)
class Pagination:
    page: int
    limit: int
    count: int
    pages: int


@dataclass(frozen=True)
class Page(Part[T_co]):
    """One page of a collection."""

    pagination: Pagination

    def following(self, call: Call[T]) -> Call[T] | None:
        number, pages = self.pagination.page, self.pagination.pages
        return call.asking({"page": number + 1}) if number < pages else None


@dataclass(frozen=True)
class Events(Part[Event]):
    """Events in the order in which they were committed. ``next`` is the cursor to go on from, now or another day."""

    next: str
    has_more: bool

    def following(self, call: Call[T]) -> Call[T] | None:
        return call.asking({"after": self.next}) if self.has_more else None


def page_of(read: Callable[[Any], T]) -> Callable[[Json], Page[T]]:
    """A function that reads pages whose entries ``read`` reads."""
    shape = reader(Pagination)
    return lambda body: Page([read(each) for each in body["data"]], shape(body["pagination"]))


def events(body: Json) -> Events:
    return Events([_read_event(each) for each in body["data"]], body["next"], body["has_more"])


def _read_event(body: Json) -> Event:
    return _event({**body, "payload": {name: value for name, value in body.items() if name != "id"}})
