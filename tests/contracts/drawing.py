"""Pages as usual programs draw them: the same words, rules and cells in four ways."""

from dataclasses import dataclass, field

from tests.pdf.pdf_factory import paper

_WIDTHS = """
278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278
584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944
667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500
278 556 500 722 500 500 500 334 260 334 584"""
_HELVETICA = {chr(32 + index): int(width) for index, width in enumerate(_WIDTHS.split())} | {"…": 1000, "’": 222}
SIZE = (595.0, 842.0)


def width(words: str, size: float) -> float:
    """Return how wide Helvetica sets the words, in points."""
    return sum(_HELVETICA.get(letter, 556) for letter in words) * size / 1000


def _string(words: str) -> str:
    return "(" + "".join(f"\\{each}" if each in "()\\" else each for each in words) + ")"


@dataclass
class Page:
    """A page; ``drawn``: the parts of its content stream, with y upwards from the bottom left."""

    drawn: list[str] = field(default_factory=list)

    def write(self, words: str, x: float, y: float, size: float = 10) -> None:
        raise NotImplementedError

    def rule(self, x: float, y: float, length: float) -> None:
        raise NotImplementedError

    def box(self, x: float, y: float, width: float, height: float) -> None:
        """Draw a box of four rules; programs differ in how they draw one."""
        self.rule(x, y, width)
        self.rule(x, y + height, width)
        self.drawn += [f"q 0.5 w {each} {y} m {each} {y + height} l S Q" for each in (x, x + width)]

    def content(self) -> bytes:
        return "\n".join(self.drawn).encode("cp1252")


class Strokes(Page):
    """A page with one string for each line, and rules as strokes."""

    def write(self, words: str, x: float, y: float, size: float = 10) -> None:
        self.drawn.append(f"BT /F1 {size} Tf {x} {y} Td {_string(words)} Tj ET")

    def rule(self, x: float, y: float, length: float) -> None:
        self.drawn.append(f"q 0.75 w {x} {y} m {x + length} {y} l S Q")


class Office(Page):
    """A page as word processors draw it: each word by itself, rules as thin bars in pieces."""

    def write(self, words: str, x: float, y: float, size: float = 10) -> None:
        for word in words.split(" "):
            self.drawn.append(
                f"/P <</MCID 0>> BDC q BT /F1 {size} Tf 1 0 0 1 {x:.2f} {y} Tm {_string(word)} Tj ET Q EMC"
            )
            x += width(word + " ", size)

    def rule(self, x: float, y: float, length: float) -> None:
        pieces = max(int(length // 36), 1)
        for piece in range(pieces):
            self.drawn.append(f"0 g {x + piece * length / pieces:.2f} {y} {length / pieces:.2f} 0.48 re f*")


class Latex(Page):
    """A page as TeX draws it: steps of the pen instead of blanks, a rule as a stroke in its own coordinates."""

    def write(self, words: str, x: float, y: float, size: float = 10) -> None:
        parts = " -278 ".join(_string(word) for word in words.split(" "))
        self.drawn.append(f"BT /F1 {size} Tf {x} {y} Td [{parts}] TJ ET")

    def rule(self, x: float, y: float, length: float) -> None:
        self.drawn.append(f"q 1 0 0 1 {x} {y} cm []0 d 0 J 0.398 w 0 0.199 m {length} 0.199 l S Q")


class Browser(Page):
    """A page as browsers print it: upside down in pixels, each letter placed, borders as filled polygons."""

    def write(self, words: str, x: float, y: float, size: float = 10) -> None:
        self.drawn.append("q .75 0 0 -.75 0 842 cm BT")
        for letter in words:
            if letter != " ":
                at = f"{x / 0.75:.2f} {(842 - y) / 0.75:.2f}"
                self.drawn.append(f"/F1 {size / 0.75:.3f} Tf 1 0 0 -1 {at} Tm {_string(letter)} Tj")
            x += width(letter, size)
        self.drawn.append("ET Q")

    def rule(self, x: float, y: float, length: float) -> None:
        left, right, top = x / 0.75, (x + length) / 0.75, (842 - y) / 0.75
        bar = f"{left} {top} m {right} {top} l {right} {top + 1} l {left} {top + 1} l h f"
        self.drawn.append(f"q .75 0 0 -.75 0 842 cm {bar} Q")


def document(pages: list[Page]) -> bytes:
    return paper(*[page.content() for page in pages], size=SIZE)
