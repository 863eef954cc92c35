"""After signing, the page offers to go on to where the request's creator wants signers to be led, and never moves."""

import re
from html import unescape

import pytest
from django.test import Client

from paraph import words as catalog
from paraph.flow.ending.end_early import end_early
from paraph.tenants.admin_log import OPERATOR
from paraph.words import LOCALES
from tests.factories import Scene, scene, sign

pytestmark = pytest.mark.django_db

PAGE = "https://Shop.example:8443/done?a=1&b=%C3%A9#top"


def html(made: Scene, **headers: str) -> str:
    return Client(headers=headers).get(made.url()).content.decode()


def offered(made: Scene, text: str) -> re.Match[str] | None:
    ids = f"signature_request_id={made.request.pk}&signer_id={made.signers[0].pk}"
    link = f'class="primary" href="https://Shop.example:8443/done?a=1&b=%C3%A9&{ids}#top" target="_top"'
    return re.search(re.escape(link) + ' rel="noreferrer"><span>(.+?)</span></a>', unescape(text))


def test_who_has_signed_is_offered_to_continue_as_the_first_thing_to_press() -> None:
    made = scene(redirect_url=PAGE)
    sign(made)
    page = html(made)
    found = offered(made, page)
    assert found and found[1] == "Continue to <bdi>shop.example:8443</bdi>"
    main = page[page.index("<main") :]
    assert re.findall(r"<(?:a|button)\b[^>]*", main)[0].startswith('<a class="primary" href="https://Shop')
    assert "http-equiv" not in page and Client().get(made.url()).status_code == 200, "nobody is moved"


def test_without_a_query_the_ids_are_all_of_it() -> None:
    made = scene(redirect_url="https://shop.example")
    sign(made)
    ids = f"signature_request_id={made.request.pk}&amp;signer_id={made.signers[0].pk}"
    assert f'href="https://shop.example?{ids}"' in html(made)


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("ex\u0430mple.com", "xn--exmple-4nf.com"),  # a Cyrillic letter
        ("\u0430\u0440\u0440\u04cf\u0435.com", "xn--80ak6aa92e.com"),  # all of them
        ("examp\u013ae.com:8443", "xn--exampe-mcb.com:8443"),  # a Latin one with an accent
        ("b\u00fccher.example", "xn--bcher-kva.example"),
        ("shop\u3002example", "shop.example"),  # an ideographic full stop
        ("EXAMPLE.com", "example.com"),
    ],
)
def test_letters_that_look_like_others_stand_as_the_dns_has_them(host: str, shown: str) -> None:
    made = scene(redirect_url=f"https://{host}/done")
    assert f'data-host="{shown}"' in html(made)
    sign(made)
    assert f"Continue to <bdi>{shown}</bdi>" in html(made)


def test_before_the_signature_the_page_knows_it_for_later_and_shows_nothing() -> None:
    made = scene(redirect_url=PAGE)
    page = unescape(html(made))
    ids = f"signature_request_id={made.request.pk}&signer_id={made.signers[0].pk}"
    assert f'data-host="shop.example:8443" data-onward="https://Shop.example:8443/done?a=1&b=%C3%A9&{ids}#top"' in page
    assert "Continue to" not in page


def test_without_one_nothing_is_offered() -> None:
    made = scene()
    assert "data-onward" not in html(made)
    sign(made)
    assert "Continue to" not in html(made)


def test_nobody_who_has_not_signed_is_led_on() -> None:
    made = scene(redirect_url=PAGE)
    end_early(OPERATOR, made.request.pk, "Over")
    assert "shop.example" not in html(made).lower()


def test_in_every_language() -> None:
    made = scene(redirect_url=PAGE)
    sign(made)
    for locale in LOCALES:
        found = offered(made, html(made, accept_language=locale))
        words = catalog.of("page", locale)
        assert found and found[1] == catalog.phrase(words, "continue_to", host="<bdi>shop.example:8443</bdi>")
