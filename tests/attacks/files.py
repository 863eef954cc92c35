"""What attacks share: requests, and what is large."""

import io
import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pikepdf
import pytest

from paraph.kernel import tokens
from tests.attacks.conftest import Target
from tests.factories import pdf
from tests.scenarios.people import Backend, at, signer

LARGE = 18 << 20


def wanted(
    backend: Backend, *people: dict[str, Any], content: bytes = b"", document: int = 0, stamps: Sequence[Any] = ()
) -> dict[str, Any]:
    """The fields of a request for these people, Zoë by default, each with these stamps or one of their own, on a new
    document of that content or on one that is there."""
    people = people or (signer("zoe"),)
    placed = [
        {"signer_ref": person["ref"], "stamps": list(stamps) or [at(y=60 + 85 * number)]}
        for number, person in enumerate(people)
    ]
    documents = [{"id": document or backend.upload(content or pdf()), "signers": placed}]
    return {"mode": "parallel", "validity_days": 7, "signers": list(people), "documents": documents}


def new_request(backend: Backend, *people: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Creates what is :func:`wanted`; ``document`` is the id of its document."""
    fields = wanted(backend, *people, **options)
    return {**backend.create(**fields), "document": fields["documents"][0]["id"]}


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
