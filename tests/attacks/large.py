"""What attackers ask for, and what they need themselves."""

import io
import resource
from collections.abc import Iterator
from contextlib import contextmanager

import pikepdf
import pytest

from paraph.kernel import tokens
from tests.attacks.conftest import Target
from tests.factories import pdf

LARGE = 18 << 20


def large_file(target: Target) -> str:
    """Where a document of that size is downloaded, for whoever has the link."""
    content = pikepdf.open(io.BytesIO(pdf()))
    content.attachments["scan.bin"] = tokens.random_bytes(LARGE)
    made = io.BytesIO()
    content.save(made)
    number = target.backend().upload(made.getvalue())
    return str(target.backend().call("GET", f"documents/{number}").json()["download_url"])


@contextmanager
def may_open(files: int) -> Iterator[None]:
    """Lets this process open so many; skips the test where the system does not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < files:
        pytest.skip(f"this process may open {hard} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, files), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
