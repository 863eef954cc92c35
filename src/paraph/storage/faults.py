"""Telling a store that fails, or does not answer, from what an object is about."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from paraph.kernel.errors import AwayError
from paraph.storage.store_protocol import Store

_OF_ROOM = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def telling_faults(store: Store, *, reading: bool = False) -> Iterator[None]:
    """Raise faults of the store's disk or network within the block as ``AwayError``. A full disk keeps its
    number; where an object is read, one that is missing stays ``FileNotFoundError``."""
    try:
        yield
    except store.faults as fault:
        number = getattr(fault, "errno", None)
        if number in _OF_ROOM or (reading and isinstance(fault, FileNotFoundError)):
            raise
        raise AwayError(number or errno.EIO, f"the object store fails: {' '.join(str(fault).split())}") from fault
