"""How one description of a call becomes a method of both clients: one that answers, and one that is awaited."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from paraph_client.call import Call
from paraph_client.lists import Part
from paraph_client.senders import AsyncSender, Sender

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
_LARGEST_PAGE = 100


class Sent(Generic[P, T_co]):
    """A method that sends the call which the decorated function describes, and returns what it is answered."""

    def __init__(self, describe: Callable[Concatenate[Any, P], Call[T_co]]) -> None:
        self.describe = describe

    @overload
    def __get__(self, sender: None, owner: type) -> Callable[Concatenate[Any, P], Any]: ...
    @overload
    def __get__(self, sender: Sender, owner: type) -> Callable[P, T_co]: ...
    @overload
    def __get__(self, sender: AsyncSender, owner: type) -> Callable[P, Coroutine[Any, Any, T_co]]: ...
    def __get__(self, sender: Sender | AsyncSender | None, owner: type) -> Callable[..., Any]:
        @wraps(self.describe)
        def send(sender: Sender | AsyncSender, /, *args: P.args, **kwargs: P.kwargs) -> Any:
            return sender.run(self.describe(sender, *args, **kwargs))

        return send if sender is None else MethodType(send, sender)


class Walked(Generic[P, T]):
    """A method that walks a list from the page that is asked for to its end, a hundred entries with each call."""

    def __init__(self, listed: Sent[P, Part[T]]) -> None:
        self.describe = listed.describe

    @overload
    def __get__(self, sender: None, owner: type) -> Callable[Concatenate[Any, P], Any]: ...
    @overload
    def __get__(self, sender: Sender, owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, sender: AsyncSender, owner: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, sender: Sender | AsyncSender | None, owner: type) -> Callable[..., Any]:
        @wraps(self.describe)
        def walk(sender: Sender | AsyncSender, /, *args: P.args, **kwargs: P.kwargs) -> Any:
            call = self.describe(sender, *args, **kwargs)
            return sender.walk(call.asking({"limit": _LARGEST_PAGE, **call.parameters}))

        walk.__doc__ = "The entries of all pages, one after the other."
        return walk if sender is None else MethodType(walk, sender)
