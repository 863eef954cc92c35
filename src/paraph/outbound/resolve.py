"""Resolving host names on separate threads, so that a name server that does not answer delays nothing else."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

Resolver = Callable[[str, int], Awaitable[list[str]]]

_THREADS = ThreadPoolExecutor(max_workers=64, thread_name_prefix="resolve")


async def system_resolver(host: str, port: int) -> list[str]:
    """Return the addresses of a host, in the system's order of preference. Raise ``OSError`` when there are none."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, _addresses, host, port)


def _addresses(host: str, port: int) -> list[str]:
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # a label that no host name can have
        raise OSError(f"{host} is not a name") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in entries))
