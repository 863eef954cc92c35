"""Which sites may show signing pages in a frame."""

import pytest

from paraph.kernel.errors import DomainError
from paraph.tenants.applications import frame_origins
from paraph.tenants.models import Application
from tests.tenancy import create_application, create_organization, update_application


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ("https://example.com", "https://example.com"),
        ("HTTPS://Shop.Example.com/", "https://shop.example.com"),
        ("https://example.com:443", "https://example.com"),
        ("https://example.com:8443", "https://example.com:8443"),
        ("https://exämple.com", "https://xn--exmple-cua.com"),
        ("https://10.0.0.7", "https://10.0.0.7"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
    ],
)
def test_an_origin_is_kept_as_browsers_write_it(given: str, origin: str) -> None:
    assert frame_origins([given, given]) == [origin]


@pytest.mark.parametrize(
    "given",
    [
        "",
        "*",
        "null",
        "example.com",
        "http://example.com",
        "http://localhost.example.com",
        "https://*.example.com",
        "https://example.com/path",
        "https://example.com//",
        "https://example.com?",
        "https://example.com#a",
        "https://user@example.com",
        "https://example.com; script-src *",
        "https://example.com;script-src",
        "https://example.com,https://other.example",
        "https://example.com'none'",
        "https://exa%6dple.com",
        "https://[::1]",
        "https://example.com:0",
        "javascript:alert(1)",
        "https://example.com\nX: y",
        "x" * 5000,
    ],
)
def test_what_is_no_origin_gets_one_sentence(given: str) -> None:
    with pytest.raises(DomainError) as refused:
        frame_origins([given])
    assert refused.value.code == "validation_error"
    sentence = "is not the origin of a site, such as https://example.com (http only for localhost)."
    assert refused.value.message == f"frame_origin {given[:80]!r} {sentence}"


def test_twenty_at_most() -> None:
    sites = [f"https://{number}.example.com" for number in range(20)]
    assert frame_origins(sites) == sites
    with pytest.raises(DomainError, match="may name at most 20 sites, not 21"):
        frame_origins([*sites, "https://example.com"])


@pytest.mark.django_db
def test_an_application_names_them_and_may_take_them_back() -> None:
    organization = create_organization("Acme", "pro")
    made = create_application(organization.pk, "sandbox", "shop", origins=["https://a.example", "https://b.example"])
    assert made.application.frame_origins == "https://a.example https://b.example"
    assert update_application(made.application.pk, ["https://c.example"]).frame_origins == "https://c.example"
    with pytest.raises(DomainError):
        update_application(made.application.pk, ["https://d.example", "d"])
    assert Application.objects.get().frame_origins == "https://c.example"
    assert update_application(made.application.pk, []).frame_origins == ""
    with pytest.raises(DomainError, match="There is no application 0"):
        update_application(0, [])
