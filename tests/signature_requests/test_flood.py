"""Payloads that are wrong all over."""

from typing import Any

import pytest

from paraph.signature_requests import input as shapes
from paraph.signature_requests import payload
from paraph.signature_requests.problems import MOST_NAMED, Problems
from paraph.signature_requests.values import Input
from paraph.tenants.limits import allowance


@pytest.fixture
def read_texts(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The values of ``signer_ref`` and of stamps' fields that were looked at."""
    read: list[Any] = []
    prepare = Input.without_nulls.__func__  # type: ignore[attr-defined]

    def watched(cls: type[Input], value: dict[str, Any]) -> dict[str, Any]:
        read.append(cls)
        found: dict[str, Any] = prepare(cls, value)
        return found

    monkeypatch.setattr(Input, "without_nulls", classmethod(watched))
    return read


def test_reading_ends_where_more_is_wrong_than_is_named(read_texts: list[Any]) -> None:
    problems, limits = Problems(), allowance("enterprise")
    documents = [{"id": 1, "signers": [{}] * limits.signers}] * limits.documents
    payload.read({"documents": documents}, limits, problems)
    assert problems.full
    assert read_texts.count(shapes.Assignment) <= MOST_NAMED + 1


def test_what_is_beyond_a_limit_costs_nothing(read_texts: list[Any]) -> None:
    problems, limits = Problems(), allowance("free")
    assigned = [{"signer_ref": "a", "stamps": [{"type": "magic_field", "value": {"tag": "x"}}]}] * 100_000
    draft = payload.read({"documents": [{"id": 1, "signers": assigned}] * 100_000}, limits, problems)
    assert len(draft.documents) == limits.documents + 1
    assert all(len(document.signers) <= limits.signers + 1 for document in draft.documents)
    assert len(read_texts) < 200
