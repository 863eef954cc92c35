"""The tag search (specification 4.5, ``magic_field``): what counts as found, and where."""

import pytest

from paraph.pdf.find import Found, find_tags
from tests.pdf.papers import paper, text

# Helvetica's own widths: a brace 334, s 500, i 222, g 556, n 556, digits 556 per 1000
TAG = "{{sign1}}"
TAG_WIDTH = 12 * (4 * 334 + 500 + 222 + 556 + 556 + 556) / 1000


def only(pdf: bytes, tag: str = TAG) -> Found:
    found = find_tags(pdf, [tag])
    assert list(found) == [tag]
    return found[tag]


def assert_at(found: Found, x: float, baseline: float, width: float = TAG_WIDTH) -> None:
    assert found.x == pytest.approx(x, abs=1)
    assert found.x + found.width / 2 == pytest.approx(x + width / 2, abs=0.5)
    assert width - 1.5 < found.width < width  # the ink, without the bearings at both ends
    assert baseline - 4 < found.y < baseline
    assert 9 < found.height < 13


def test_a_plain_tag_is_found_where_it_stands() -> None:
    found = only(paper(text(f"Signed by {TAG}", 100, 300), text("nothing", 50, 50)))
    assert found.page_number == 1
    assert_at(found, 100 + 12 * (667 + 222 + 556 + 556 + 556 + 556 + 278 + 556 + 500 + 278) / 1000, 300)


def test_absent_tags_are_missing() -> None:
    assert find_tags(paper(text(TAG, 100, 300)), ["{{sign2}}", "{{SIGN1}}", TAG]).keys() == {TAG}
