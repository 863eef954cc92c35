"""Documents to sign that look like documents."""

from tests.pdf.pdf_factory import paper, text

_CLAUSES = [
    "The tenant takes the flat on the second floor, with cellar and bicycle room.",
    "The rent is due on the third working day of each month, in advance.",
    "Small repairs up to 120 euros each are for the tenant, all others for the owner.",
    "The tenant may keep a cat. Other animals need a written word of the owner.",
    "Keys are counted when they are handed over, and counted again at the end.",
    "Either side may end this contract with three months' notice, in writing.",
]


def contract(pages: int = 3, title: str = "Lease of a flat") -> bytes:
    """Return a PDF of this many A4 pages of clauses; the last words of each page say its number."""
    return paper(*(_page(number, pages, title) for number in range(1, pages + 1)))


def _page(number: int, pages: int, title: str) -> str:
    lines = [text(title if number == 1 else f"{title}, continued", 72, 760, 20)]
    for row in range(18):
        clause = _CLAUSES[(row + number) % len(_CLAUSES)]
        lines.append(text(f"{number}.{row + 1}  {clause}", 72, 710 - row * 30, 11))
    return "".join(lines) + text(f"This is page {number} of {pages}", 72, 40, 9)
