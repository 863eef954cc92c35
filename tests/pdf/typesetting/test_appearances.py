"""Stamps, initials and watermarks as a reader sees them."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
import typst
from PIL import Image

from paraph.pdf.typesetting import fonts
from paraph.pdf.typesetting.appearances import InitialsContent, StampContent, appearances
from paraph.pdf.typesetting.glyph_fallback import initials_of
from paraph.pdf.typesetting.typeset import typeset
from tests.pdf.pictures import DRAWN, font_names, font_sizes, ink_box, pictures, sizes, squeezed, texts, without_ground

AT = datetime(2026, 11, 21, 14, 5, 9, 123000, tzinfo=UTC)
STAMP = StampContent(width=200, height=80, name="Anna-Maria Rossi", signed_at=AT, request_id=1042)
LONG = "Maximiliana-Konstantina Freifrau von und zu Hohenstaufen-Wolfenbüttel Papadopoulou"
ENDLESS = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
SIZES = [(80, 30), (80, 160), (400, 30), (400, 160), (200, 80), (120, 40), (100, 100)]


def stamps(contents: Sequence[StampContent]) -> bytes:
    return appearances(stamps=contents).pdf


IN_WORDS = {
    "en": ["Signed by", "Anna-Maria Rossi", "21 Nov 2026, 14:05:09 UTC", "Request 1042"],
    "fr": ["Signé par", "21 nov. 2026, 14:05:09 UTC", "Demande 1042"],
    "de-AT": ["Unterzeichnet von", "21. Nov. 2026, 14:05:09 UTC", "Vorgang 1042"],
    "es": ["Firmado por", "21 nov 2026", "Solicitud 1042"],
    "it": ["Firmato da", "Richiesta 1042"],
    "pt": ["Assinado por", "Pedido 1042"],
    "nl": ["Ondertekend door", "Verzoek 1042"],
    "xx": ["Signed by", "Request 1042"],
}


def test_a_stamp_says_who_when_and_which_request_in_the_signers_language() -> None:
    drawn = appearances([replace(STAMP, locale=locale) for locale in IN_WORDS])
    shown = texts(drawn.pdf)
    for page, facts in zip(drawn.stamp_pages, IN_WORDS.values(), strict=True):
        assert [fact for fact in facts if fact not in shown[page]] == []


def test_an_arabic_stamp_begins_at_the_right() -> None:
    """The stamp follows its language, with a typed signature and with a drawn one."""
    tall = replace(STAMP, name="عمر علي", locale="ar")
    for picture in pictures(stamps([tall, replace(tall, signature=DRAWN)])):
        box = ink_box(without_ground(picture).crop((0, 0, picture.width, round(picture.height * 0.3))))
        assert box is not None and box[0] > picture.width * 0.3 and box[2] > picture.width * 0.9
    [text] = texts(stamps([tall]))
    assert "،" in text and "," not in text


def test_nothing_is_clipped_at_any_size() -> None:
    names = ["Bo Li", LONG, ENDLESS, "محمد عبد الرحمن الخالدي", "नरेन्द्र कुमार शर्मा"]
    looks = [(name, mark, size) for name in names for mark in ({"type": "typed"}, DRAWN) for size in SIZES]
    pdf = stamps([replace(STAMP, width=w, height=h, name=name, signature=mark) for name, mark, (w, h) in looks])
    assert sizes(pdf) == [size for *_, size in looks]
    for (name, *_), picture, text in zip(looks, pictures(pdf), texts(pdf), strict=True):
        box = ink_box(without_ground(picture))
        assert box is not None
        left, top, right, bottom = box
        assert left >= 2 and top >= 2, "half a point at the least stays free"
        assert right <= picture.width - 2 and bottom <= picture.height - 2
        assert "1042" in text and "14:05:09 UTC" in text
        if name.isascii():
            assert squeezed(name) in squeezed(text)


def test_no_type_is_too_small_to_print() -> None:
    names = ["Bo Li", "Maximiliana-Konstantina Freifrau von Hohenstaufen", LONG]
    places = [(80, 30), (120, 40), (110, 30), (200, 40), (80, 160)]
    contents = [
        replace(STAMP, width=w, height=h, name=name, signature=mark)
        for name, (w, h) in product(names, places)
        for mark in ({"type": "typed"}, DRAWN)
    ]
    assert min(font_sizes(stamps(contents))) >= 3.99


def test_the_label_stands_right_above_the_signature() -> None:
    for width, height in [(200, 70), (300, 120), (400, 160)]:
        [picture] = pictures(stamps([replace(STAMP, width=width, height=height, name="Bo Li")]))
        ink = without_ground(picture).getchannel("A")
        rows = [any(ink.crop((0, y, picture.width, y + 1)).tobytes()) for y in range(picture.height)]
        label = next(y for y in range(len(rows)) if rows[y])
        after = next(y for y in range(label, len(rows)) if not rows[y])
        signature = next(y for y in range(after, len(rows)) if rows[y])
        assert (signature - after) / picture.height < 0.08


def test_each_hand_and_a_drawing_look_otherwise() -> None:
    marks: list[dict[str, Any]] = [{"type": "typed"}, *({"type": "typed", "hand": hand} for hand in (2, 3, 4)), DRAWN]
    pdf = stamps([replace(STAMP, signature=mark) for mark in marks])
    assert len({picture.tobytes() for picture in pictures(pdf)}) == 5
    assert texts(pdf)[-1].count("Anna-Maria") == 1, "only in the words"


def test_no_letter_of_a_hand_is_cut_off() -> None:
    """Faces of handwriting reach far above and below their lines."""
    names = ["Jörg Øster-Ğüneş", "J Fitzgerald-Quincy", "Ḡỹ Ắ", "Li"]
    marks = [{"type": "typed", "hand": hand} for hand in (1, 2, 3, 4)]
    contents = [
        replace(STAMP, name=name, signature=mark, width=w, height=h)
        for name, mark, (w, h) in product(names, marks, [(200, 80), (80, 30), (220, 36), (120, 160)])
    ]
    for content, picture in zip(contents, pictures(stamps(contents)), strict=True):
        box = without_ground(picture).getchannel("A").getbbox()
        assert box and box[0] > 0 and box[1] > 0 and box[2] < picture.width and box[3] < picture.height, content


def test_drawn_initials_are_as_strong_as_typed_ones() -> None:
    tall = {"type": "drawn", "strokes": [[[0.1, 0.1], [0.15, 0.5], [0.2, 0.1], [0.3, 0.5]]]}
    [typed, drawn] = pictures(
        appearances(initials=[InitialsContent("Inge Illig"), InitialsContent("Inge Illig", tall)]).pdf, scale=20
    )
    assert stem(drawn) >= 0.5 * stem(typed), "half of the thickest stem, and no hairline"


def stem(picture: Image.Image) -> int:
    """Return the median length of the runs of ink on a line through the middle of the letters."""
    middle = picture.height // 2
    row = without_ground(picture).getchannel("A").crop((0, middle, picture.width, middle + 1))
    runs = [len(run) for run in "".join("x" if a > 127 else " " for a in row.tobytes()).split()]
    return sorted(runs)[len(runs) // 2]


def test_the_page_shows_through_stamps_and_initials() -> None:
    """The ground under them is white with an opacity of 70 %."""
    for picture in pictures(appearances([STAMP], [InitialsContent("Inge Illig")]).pdf):
        ground = sum(picture.getchannel("A").histogram()[177:181])
        assert ground > 0.7 * picture.width * picture.height


def test_what_draws_nothing_visible_is_typed_instead() -> None:
    points: list[Any] = [[[0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]], [[float("nan"), 0.1], [float("inf"), 0.2]]]
    nothing: list[Any] = [[], [[]], *([stroke] for stroke in points)]
    marks = [{"type": "drawn", "strokes": strokes} for strokes in nothing]
    assert sizes(stamps([STAMP, *(replace(STAMP, signature=mark) for mark in marks)])) == [(200, 80)], "all the same"


HOSTILE = ['#panic("x")', "*bold* _it_ `raw` $x$", 'back\\slash "quotes" \\u{41}', "= head\n\n- item", "- -- -"]
HOSTILE += ["a\x00b\ud800c", "@x <y>"]


def test_markup_in_names_stays_text() -> None:
    shown = texts(stamps([replace(STAMP, width=400, height=160, name=name) for name in HOSTILE]))
    for name, text in zip(HOSTILE, shown, strict=True):
        expected = name.replace("\x00", "").replace("\ud800", "?")
        assert squeezed(text).count(squeezed(expected)) == 2


def test_a_name_of_nothing_visible_still_gives_a_stamp() -> None:
    shown = texts(stamps([replace(STAMP, name=name) for name in ["", " ", "\u202e", "\u0317"]]))
    assert shown and all("1042" in text for text in shown)


def test_cjk_names_are_written_with_the_systems_font() -> None:
    if not fonts.library().has_cjk:
        pytest.skip("Noto Sans CJK is not installed (Debian: fonts-noto-cjk)")
    pdf = stamps([replace(STAMP, name=name) for name in ("王小明", "山田たろう", "김민준")])
    assert ["王小明" in texts(pdf)[0], "山田たろう" in texts(pdf)[1], "김민준" in texts(pdf)[2]] == [True] * 3
    assert any("CJK" in name for name in font_names(pdf))


def test_what_passes_for_legible_never_stops_typst() -> None:
    """Letters of every font are mixed at random: Typst would refuse a glyph that no font has."""
    characters = sorted(set().union(*(font.characters for font in fonts.library().covering)))
    chance = random.Random(2026)  # the same names in every run
    names = ["".join(map(chr, chance.sample(characters, 16))) for _ in range(60)]
    assert len(sizes(stamps([replace(STAMP, name=name) for name in names]))) == 60


def test_typst_refuses_a_missing_glyph() -> None:
    page = {"kind": "initials", "width": 48, "height": 24, "hand": 1, "handwritten": False, "drawing": None}
    letters = {"text": "\ua98a", "cjk": "", "rtl": False}
    with pytest.raises(typst.TypstError, match="could not be displayed"):
        typeset("appearances", {"pages": [{**page, "letters": letters}], "ink": "#000"}, standard="a-2b")


def test_everything_in_one_file_with_equal_pictures_once() -> None:
    drawn = appearances(
        stamps=[STAMP, replace(STAMP, request_id=7), STAMP],
        initials=[InitialsContent("Anna-Maria Rossi"), InitialsContent("Bo Li", DRAWN)],
        watermarks=[(595, 842), (842, 595)],
    )
    assert (drawn.stamp_pages, drawn.initials_pages, drawn.watermark_pages) == ([0, 1, 0], [2, 3], [4, 5])
    assert sizes(drawn.pdf) == [(200, 80), (200, 80), (48, 24), (48, 24), (595, 842), (842, 595)]
    pages = texts(drawn.pdf)
    assert "Request 7" in pages[1] and "AMR" in pages[2].replace(" ", "")
    assert "SANDBOX" in pages[4] and "not legally binding" in pages[5]


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(ValueError, match="to draw"):
        appearances()


@pytest.mark.parametrize("size", [(595, 842), (842, 595), (20, 20), (2000, 100), (72.5, 600.25)])
def test_the_watermark_spans_the_page_and_lets_it_through(size: tuple[float, float]) -> None:
    [picture] = pictures(appearances(watermarks=[size]).pdf, scale=4 if max(size) < 700 else 1)
    box = ink_box(picture)
    assert box is not None
    assert box[0] > 0 and box[1] > 0 and box[2] < picture.width and box[3] < picture.height
    spans = (box[2] - box[0]) / picture.width, (box[3] - box[1]) / picture.height
    assert max(spans) > 0.6
    assert not any(picture.getchannel("A").histogram()[80:]), "print below stays readable"


@pytest.mark.parametrize(
    ("name", "initials"),
    [
        ("Anna-Maria Rossi", "AMR"),
        ("bo li", "BL"),
        ("a b c d e f", "ABCF"),
        ("王小明", "王"),
        ("محمد الخالدي", "\u0645 \u062e"),
        ("محمد عبد الرحمن الخالدي", "\u0645 \u0639 \u062e"),
        ("خالد بن الوليد", "\u062e \u0648"),
        ("الياس نور", "\u0627 \u0646"),
        ("김민준", "김"),
        ("ßen ﬁnn ŉamen ǆemal", "SFND"),
        ("ǰan ևa ΐx A\u030bke", "J̌ԵΪ́A̋"),
        ("\u02bbIolani ﬃ", "IF"),
        ("😀 👍", "😀"),
        ("\u0301\u0302", "—"),
        ("\u200b \u202e", "—"),
        ("", "—"),
    ],
)
def test_initials_of_a_name(name: str, initials: str) -> None:
    assert initials_of(name) == initials


def test_the_same_content_gives_the_same_bytes() -> None:
    contents = [STAMP, replace(STAMP, signature=DRAWN)]
    assert stamps(contents) == stamps(contents)
