"""Lines that wait for a signature."""

import pytest

from paraph.pdf.untrusted.page_reading import SignatureLine, list_signature_lines
from tests.pdf.pdf_factory import paper, text

BLANK = "______________________"


def found(*contents: str, **options: object) -> list[tuple[str, int]]:
    return [(line.label, line.page_number) for line in lines(*contents, **options)]


def lines(*contents: str, **options: object) -> list[SignatureLine]:
    return list_signature_lines(paper(*contents, **options))  # type: ignore[arg-type]


def rule(x: float, y: float, width: float) -> str:
    return f"{x} {y} m {x + width} {y} l S\n"


@pytest.mark.parametrize("label", ["Signature", "Signed by", "Unterschrift", "Firma", "Assinatura", "Handtekening"])
def test_a_blank_after_the_word(label: str) -> None:
    [line] = lines("", text(f"{label}: {BLANK}", 72, 300))
    assert (line.label, line.page_number) == (label, 2)
    assert 72 + 30 < line.x < 200 and 130 < line.width < 160 and 290 < line.y < 300


def test_blanks_for_other_things_are_left_out() -> None:
    assert found(text(f"Date: {BLANK}", 72, 300), text("Signature page", 72, 700)) == []
    assert found(text(f"Signature: {BLANK} Date: {BLANK}", 72, 300)) == [("Signature", 1)]
    assert found(text(f"Significant: {BLANK}", 72, 300), text(f"Design: {BLANK}", 72, 300)) == []


def test_a_blank_above_the_word() -> None:
    drawn = text(BLANK, 72, 250) + text("Signature of the tenant", 72, 238, 8) + text(BLANK, 330, 250)
    assert found(drawn + text("Date", 330, 238, 8)) == [("Signature of the tenant", 1)]


def test_a_drawn_rule_beside_or_above_the_word() -> None:
    assert found(text("Signature:", 72, 300) + rule(135, 298, 200)) == [("Signature", 1)]
    assert found(rule(72, 250, 180) + text("Signature of the tenant", 72, 238, 8)) == [("Signature of the tenant", 1)]
    assert found(rule(72, 650, 180) + text("Signature of the tenant", 72, 238, 8)) == []
    [line] = lines(rule(72, 250, 180) + text("Signature", 72, 238, 8))
    assert abs(line.x - 72) < 2 and abs(line.width - 180) < 3 and abs(line.y - 250) < 2


def test_points_are_those_of_the_page_as_it_is_read() -> None:
    """On a page that is turned, cropped and scaled, the text runs upwards."""
    turned = {"/Rotate": 90, "/CropBox": [50, 40, 450, 640], "/UserUnit": 2.0}
    upright = f"BT /F1 12 Tf 0 1 -1 0 250 100 Tm (Signature: {BLANK}) Tj ET\n"
    [line] = lines(upright, page=turned)
    assert line.width > 2 * 130 and line.height < 2 * 20
    assert abs(line.y - 2 * (450 - 250)) < 12 and 2 * (100 - 40 + 30) < line.x < 2 * (100 - 40 + 90)


def test_as_many_as_anybody_needs() -> None:
    page = "".join(text(f"Signature: {BLANK}", 72, 20 + 16 * row) for row in range(50))
    assert len(lines(*[page] * 6)) == 200
