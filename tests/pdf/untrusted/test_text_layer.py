"""The text layer of a page."""

import pytest

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import text_layer
from tests.pdf.pdf_factory import paper, text


def test_words_stand_where_they_are_seen() -> None:
    pdf = paper("", text("Sale agreement", 100, 700) + text("of 2026", 100, 680))
    layer = text_layer(pdf, 2)
    assert (layer.width, layer.height) == (595, 842)
    assert [(word.text, word.line) for word in layer.words] == [("Sale", 0), ("agreement", 0), ("of", 1), ("2026", 1)]
    sale, agreement = layer.words[:2]
    assert sale.x == pytest.approx(100, abs=0.5)
    assert sale.width == pytest.approx(12 * (667 + 556 + 222 + 556) / 1000, abs=0.5)
    assert sale.y < 700 < sale.y + sale.height
    assert agreement.x == pytest.approx(100 + 12 * (667 + 556 + 222 + 556 + 278) / 1000, abs=0.5)
    assert text_layer(pdf, 1).words == []


def test_only_what_the_reader_sees_on_rotated_and_cropped_pages() -> None:
    content = text("seen", 100, 300) + text("unseen", 20, 300)
    (word,) = text_layer(paper(content, page={"/CropBox": [90, 100, 440, 700], "/Rotate": 90}), 1).words
    assert word.text == "seen"
    assert word.height > word.width
    assert word.x < 200 < word.x + word.width
    assert word.y + word.height == pytest.approx(340, abs=1)


def test_a_page_that_is_not_there_is_refused() -> None:
    with pytest.raises(PdfRefused):
        text_layer(paper(""), 2)
