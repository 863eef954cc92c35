"""Full names in the order of their script and language."""

import pytest

from paraph.signature_requests.localized import full_name


@pytest.mark.parametrize(
    ("first", "last", "locale", "name"),
    [
        ("Zoë", "Lindqvist", "en", "Zoë Lindqvist"),
        ("伟", "王", "en", "王伟"),
        ("민준", "김", "ko", "김민준"),
        ("太郎", "山田", "", "山田太郎"),
        ("さくら", "山田", "", "山田さくら"),
        ("ジョン", "スミス", "", "ジョン スミス"),
        ("Wei", "王", "en", "Wei 王"),
        ("Anna", "Nagy", "hu", "Nagy Anna"),
        ("Anna", "Nagy", "hu-HU", "Nagy Anna"),
        ("محمد", "الخالدي", "ar", "محمد الخالدي"),
        ("-", "1", "en", "- 1"),
    ],
)
def test_the_order_of_a_name(first: str, last: str, locale: str, name: str) -> None:
    assert full_name(first, last, locale) == name
