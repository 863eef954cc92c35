"""What the four collections have in common (rule 4.1). Filters: test_list_documents."""

from collections.abc import Callable
from typing import Any

import pytest

from paraph.audit_trail.append import follow
from paraph.database.rows import insert
from paraph.documents.models import Document
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import BrandingProfile
from tests.api.v1.api_clients import ApiClient, branding_profile, payload, stored_document


def documents(owner: ApiClient, count: int) -> str:
    for _ in range(count - Document.objects.count()):
        stored_document(owner)
    return "/documents"


def requests(owner: ApiClient, count: int) -> str:
    content = payload(owner.document())
    for _ in range(count):
        owner.create(content)
    return "/signature_requests"


def audit_logs(owner: ApiClient, count: int) -> str:
    request = SignatureRequest.objects.get(pk=owner.create(payload(owner.document())).json()["id"])
    for _ in range(count - 1):
        insert([follow(request, "request.completed")])
    return f"/signature_requests/{request.pk}/audit_logs"


def branding_profiles(owner: ApiClient, count: int) -> str:
    for number in range(count - BrandingProfile.objects.count()):
        branding_profile(owner, f"Profile {number}")
    return "/branding_profiles"


MAKERS = [documents, requests, audit_logs, branding_profiles]
Maker = Callable[[ApiClient, int], str]


@pytest.mark.parametrize("make", MAKERS)
def test_the_envelope_and_the_defaults(owner: ApiClient, make: Maker) -> None:
    content = owner.get(make(owner, 21)).json()
    assert set(content) == {"data", "pagination"}
    assert content["pagination"] == {"page": 1, "limit": 20, "count": 21, "pages": 2}
    assert len(content["data"]) == 20


@pytest.mark.parametrize("make", MAKERS)
def test_pages_follow_each_other_and_the_count_is_of_all(owner: ApiClient, make: Maker) -> None:
    path = make(owner, 5)
    pages = [owner.get(path, page=page, limit=2).json() for page in (1, 2, 3, 4)]
    assert [len(page["data"]) for page in pages] == [2, 2, 1, 0]
    ids = [entry["id"] for page in pages for entry in page["data"]]
    assert ids == [entry["id"] for entry in owner.get(path).json()["data"]] and len(set(ids)) == 5
    for number, page in enumerate(pages, start=1):
        assert page["pagination"] == {"page": number, "limit": 2, "count": 5, "pages": 3}


LENIENT: list[tuple[dict[str, str], int, int]] = [
    ({}, 1, 20),
    ({"page": "2", "limit": "2"}, 2, 2),
    ({"page": "0", "limit": "0"}, 1, 20),
    ({"page": "-1", "limit": "-5"}, 1, 20),
    ({"page": "last", "limit": "all"}, 1, 20),
    ({"page": "", "limit": ""}, 1, 20),
    ({"page": "1.5", "limit": "2.0"}, 1, 20),
    ({"page": "٣", "limit": "٣"}, 1, 20),
    ({"limit": "100"}, 1, 100),
    ({"limit": "101"}, 1, 100),
    ({"page": "2", "limit": "1000000"}, 2, 100),
    ({"limit": "9" * 5000}, 1, 100),  # however large, it is lowered
    ({"page": "9" * 18}, 10**18 - 1, 20),
    ({"page": "9" * 5000}, 10**18 - 1, 20),  # and a page that nobody has is not the first
    ({"page": "0" * 30 + "2", "limit": "007"}, 2, 7),
]


@pytest.mark.parametrize("make", MAKERS)
def test_page_and_limit_are_lenient(owner: ApiClient, make: Maker) -> None:
    path = make(owner, 1)
    for query, page, limit in LENIENT:
        pagination = owner.get(path, **query).json()["pagination"]
        assert (query, pagination["page"], pagination["limit"]) == (query, page, limit)


def test_a_hundred_entries_fit_a_page_and_no_more(owner: ApiClient) -> None:
    path = documents(owner, 101)
    assert len(owner.get(path, limit="500").json()["data"]) == 100
