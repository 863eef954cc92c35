"""The synchronous client and the asynchronous one: every call of the API, with a sender."""

from paraph_client.calls import Calls
from paraph_client.senders import AsyncSender, Sender


class Client(Calls, Sender):
    """One connection pool, one API key.

    ``address`` is where the service lives (``https://sign.example.com``); ``retries`` how often a call is
    sent again after a 429, a 5xx that may pass or a lost connection; ``retry_for`` the seconds after which it is not
    sent again any more; ``timeout`` the seconds that each attempt waits for the service; ``language`` that of error
    messages; ``transport`` an httpx transport of your own.
    Every method raises ``ParaphError`` when the service refuses, ``httpx.HTTPError`` when it cannot be reached.
    """

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(Calls, AsyncSender):
    """One connection pool, one API key; the methods of :class:`~paraph_client.Client`, awaited."""

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
