"""Payloads that are wrong all over."""

from paraph.signature_requests import request_draft
from paraph.signature_requests.problems import MOST_NAMED, Problems
from paraph.tenants.plans import allowance


def test_reading_ends_where_more_is_wrong_than_is_named() -> None:
    problems, limits = Problems(), allowance("enterprise")
    documents = [{"id": 1, "signers": [{}] * limits.signers}] * limits.documents
    draft = request_draft.read({"documents": documents}, limits, problems)
    assert draft and problems.full
    assert sum(len(document.assignments) for document in draft.documents) <= MOST_NAMED


def test_what_is_beyond_a_limit_costs_nothing() -> None:
    problems, limits = Problems(), allowance("free")
    draft = request_draft.read({"documents": [{"id": 1, "signers": [{}] * 100_000}] * 100_000}, limits, problems)
    assert draft and len(draft.documents) == limits.documents + 1
    assert all(len(document.assignments) <= limits.signers + 1 for document in draft.documents)
