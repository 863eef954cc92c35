"""A place where something is kept about a person: what finds, tells and erases it stands side by side."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Facts = dict[str, Any]
Subject = TypeVar("Subject")
Row = TypeVar("Row")


@dataclass(frozen=True)
class Place(Generic[Subject, Row]):
    """``find`` returns what the place has about the subject, and ``tell`` what stands in one of these, as plain JSON.

    ``erase`` takes what ``find`` returned for the subject and returns how many of these it changed; None where nothing
    is erased, and then ``stays`` says why. ``tables``: those of the database that personal values stand in.
    """

    name: str
    tables: frozenset[str]
    find: Callable[[Subject], Iterable[Row]]
    tell: Callable[[Row], Facts]
    erase: Callable[[Subject, Sequence[Row]], int] | None = None
    stays: str = ""
