"""Twenty made-up contracts of usual kinds without a tag, each with the places where its two parties sign. Their pages
are drawn as usual programs do, the same words, rules and cells in four ways."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

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
class Page(ABC):
    """A page; ``drawn``: the parts of its content stream, with y upwards from the bottom left."""

    drawn: list[str] = field(default_factory=list)

    @abstractmethod
    def write(self, words: str, x: float, y: float, size: float = 10) -> None: ...

    @abstractmethod
    def rule(self, x: float, y: float, length: float) -> None: ...

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


MARTA, DENIZ = ("Marta", "Brückner"), ("Deniz", "Öztürk")
LEFT, RIGHT, TOP = 72.0, 523.0, 780.0
_END = 420.0  # where the last page has room to sign
_NAMES = [" ".join(name) for name in (MARTA, DENIZ)]
_ANNEX = "Anlage: Übergabeprotokoll"
_TEXTS = {
    "en": [
        "1. The landlord lets the flat at 12 Harbour Street to the tenant from the date that is named below.",
        "2. The rent is 1,200 euros a month and is due on the third working day of each month.",
        "3. The tenant keeps the flat in good order and tells the landlord of any damage without delay.",
        "4. Either party may end this agreement by three months' notice in writing, signed by hand.",
        "5. Changes of this agreement are valid only if they are made in writing and signed by both parties.",
    ],
    "de": [
        "§ 1 Der Vermieter vermietet dem Mieter die Wohnung in der Lindenstraße 12 zu Wohnzwecken.",
        "§ 2 Die Miete beträgt monatlich 1.200 Euro und ist am dritten Werktag eines Monats fällig.",
        "§ 3 Der Mieter behandelt die Wohnung pfleglich und zeigt Schäden unverzüglich an.",
        "§ 4 Die Kündigung bedarf der Schriftform und muss eigenhändig unterzeichnet sein.",
        "§ 5 Änderungen dieses Vertrags bedürfen der Schriftform und der Unterschrift beider Parteien.",
    ],
    "fr": [
        "Article 1. Le bailleur donne en location au locataire le logement situé 12 rue du Port.",
        "Article 2. Le loyer est de 1 200 euros par mois, payable le troisième jour ouvrable du mois.",
        "Article 3. Le locataire entretient le logement et signale sans délai tout dommage.",
        "Article 4. Chaque partie peut résilier le contrat par lettre signée avec un préavis de trois mois.",
        "Article 5. Toute modification du contrat est faite par écrit et signée par les deux parties.",
    ],
}
_BLANKS = {
    "en": ("Date of birth:", "Deposit in euros:", "Bank account (IBAN):"),
    "de": ("Geburtsdatum:", "Kaution in Euro:", "Kontonummer (IBAN):"),
    "fr": ("Date de naissance :", "Dépôt en euros :", "Compte (IBAN) :"),
}


@dataclass(frozen=True)
class Place:
    """Where somebody signs: the left end and the level of the line, in points; ``signer`` counts from 0."""

    page: int
    x: float
    y: float
    width: float
    signer: int


@dataclass(frozen=True)
class Contract:
    """``named``: whether the labels say by name who signs where; otherwise the order says so."""

    name: str
    pdf: bytes
    places: list[Place]
    named: bool


class Words(NamedTuple):
    """``{}`` in the text stands for the party, or for what is known of it, in this order."""

    text: str
    x: float = 0
    y: float = 0
    size: float = 10


class Rule(NamedTuple):
    x: float
    y: float
    length: float


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float


Part = Words | Rule | Box


class _Kind(NamedTuple):
    """The end of a contract. ``drawn``: the parts for each party, of which the second stands ``apart`` from the first;
    ``sign``: x, y and length of the line to sign on, where x may be the words before it; ``once``: parts for both."""

    language: str
    way: type[Page]
    name: str
    parties: Sequence[str | tuple[str, ...]]
    apart: tuple[float, float]
    drawn: Sequence[Part]
    sign: tuple[float | str, float, float]
    once: Sequence[Part] = ()
    pages: int = 2


def usual_contracts() -> Iterator[Contract]:
    for kind in _KINDS:
        sheets = [_prose(kind, number) for number in range(1, kind.pages + 1)]
        places = list(_signed(kind, sheets[-1]))
        name = f"{kind.name} ({kind.way.__name__.lower()}, {kind.language})"
        yield Contract(name, document(sheets), places, named=_NAMES[0] in str(kind.parties))


def _signed(kind: _Kind, page: Page) -> Iterator[Place]:
    """Draw the end of a contract, and yield the places where the parties sign."""
    for part in kind.once:
        _draw(page, part, LEFT, _END, ())
    for index, party in enumerate(kind.parties):
        said = (party,) if isinstance(party, str) else party
        x, y = LEFT + index * kind.apart[0], _END + index * kind.apart[1]
        for part in kind.drawn:
            _draw(page, part, x, y, said)
        signer = next((number for number, name in enumerate(_NAMES) if name in said), index)
        start, level, length = kind.sign
        aside = width(start.format(*said), 10) if isinstance(start, str) else start
        yield Place(kind.pages, x + aside, y + level, length, signer)


def _draw(page: Page, part: Part, x: float, y: float, said: Sequence[str]) -> None:
    x, y = x + part.x, y + part.y
    if isinstance(part, Words):
        page.write(part.text.format(*said), x, y, part.size)
    elif isinstance(part, Rule):
        page.rule(x, y, part.length)
    else:
        page.box(x, y, part.width, part.height)


def _prose(kind: _Kind, number: int) -> Page:
    """Write what is no place to sign: an underlined heading, prose, blanks, a table of numbers, rules at the edges."""
    page, language = kind.way(), kind.language
    heading = {"en": "Tenancy agreement", "de": "Mietvertrag", "fr": "Contrat de location"}[language]
    page.rule(LEFT, 806, RIGHT - LEFT)
    page.write(heading, LEFT, TOP, 16)
    page.rule(LEFT, TOP - 3, width(heading, 16))
    y = TOP - 36
    for paragraph in _TEXTS[language]:
        page.write(paragraph, LEFT, y)
        y -= 18
    if number == 1:
        for blank, length in zip(_BLANKS[language], (20, 14, 19), strict=True):
            page.write(f"{blank} {'_' * length}", LEFT, y)
            y -= 22
    for row, column in () if number == kind.pages else product(range(5), range(3)):
        page.box(LEFT + column * 130, 380 - row * 20, 130, 20)
        words = f"{row * 7 + column}" if row else ("Room", "Area", "Rent")[column]
        page.write(words, LEFT + 6 + column * 130, 386 - row * 20)
    page.rule(LEFT, 60, RIGHT - LEFT)
    page.write(f"{number} / {kind.pages}", 280, 46, 8)
    return page


def _blank(count: int, of: str = "_") -> float:
    return width(of * count, 10)


_KINDS = [
    _Kind("en", Strokes, "rules with labels below", ("landlord", "tenant"), (250, 0),
        [Rule(0, 0, 190), Words("Signature of the {}", 0, -12, 8)],
        sign=(0, 0, 190)),
    _Kind("de", Office, "place and date beside the signature, twice", ("Vermieter", "Mieter"), (0, -90),
        [
            *(Rule(0, 0, 150), Words("Ort, Datum", 0, -12, 8)),
            *(Rule(190, 0, 220), Words("Unterschrift {}", 190, -12, 8)),
        ],
        sign=(190, 0, 220), pages=3),
    _Kind("fr", Browser, "rules with labels above", ("Le bailleur", "Le locataire"), (240, 0),
        [Words("{}", 0, 20), Rule(0, -40, 200)],
        sign=(0, -40, 200),
        once=[Words("Fait en deux exemplaires à ______________ le ______________", 0, 60)]),
    _Kind("en", Office, "underscores after the label", ("Landlord", "Tenant"), (0, -100),
        [
            *(Words("{}:", 0, 30, 11), Words("Signature: " + "_" * 36)),
            *(Words("Name: " + "_" * 40, 0, -24), Words("Date: " + "_" * 24, 0, -48)),
        ],
        sign=("Signature: ", 0, _blank(36))),
    _Kind("en", Latex, "names under rules", _NAMES[::-1], (250, 0),
        [Rule(0, 0, 180), Words("{}", 0, -12), Words("Date:", 0, -30)],
        sign=(0, 0, 180), pages=4),
    _Kind("de", Strokes, "dotted lines with the party below", ("(Vermieter)", "(Mieter)"), (250, 0),
        [Words("." * 60), Words("{}", 60, -12, 8)],
        sign=(0, 0, _blank(60, "."))),
    _Kind("fr", Office, "a table with heads", _NAMES, (0, -50),
        [Box(0, -50, 120, 50), Words("{}", 6, -30), Box(120, -50, 90, 50), Box(210, -50, 200, 50)],
        sign=(210, -50, 200),
        once=[
            *(Box(0, 0, 120, 50), Words("Nom", 6, 20), Box(120, 0, 90, 50), Words("Date", 126, 20)),
            *(Box(210, 0, 200, 50), Words("Signature", 216, 20)),
        ]),
    _Kind("en", Browser, "cells with the label beside", ("Landlord", "Tenant"), (0, -110),
        [
            *(Box(0, 0, 130, 50), Box(130, 0, 220, 50), Words("{}'s signature", 6, 20)),
            *(Box(0, -50, 130, 50), Box(130, -50, 220, 50), Words("Date", 6, -30)),
        ],
        sign=(130, 0, 220)),
    _Kind("de", Latex, "one rule for place, date and signature", ("Vermieter", "Mieter"), (0, -80),
        [Rule(0, 0, 420), Words("Ort, Datum", 0, -11, 8), Words("Unterschrift {}", 210, -11, 8)],
        sign=(208, 0, 212), pages=12),
    _Kind("en", Latex, "By, Name, Title",
        (("HARBOUR HOMES LTD", _NAMES[0]), ("OCEAN CONSULTING LLC", _NAMES[1])), (240, 0),
        [
            *(Words("{}", 0, 60), Words("By:"), Rule(22, -1, 170), Words("Name: {1}", 0, -22)),
            *(Words("Title: Managing Director", 0, -38), Words("Date:", 0, -54), Rule(30, -55, 100)),
        ],
        sign=(22, 0, 170),
        once=[Words("IN WITNESS WHEREOF, the parties have executed this agreement on the date below.", 0, 90)]),
    _Kind("fr", Strokes, "mention over a dotted line", ("Signature du bailleur", "Signature du locataire"), (240, 0),
        [Words("{}", 0, 50), Words("(précédée de la mention « lu et approuvé »)", 0, 38, 7), Words("." * 64, 0, -20)],
        sign=(0, -20, _blank(64, ".")),
        once=[Words("Fait à ............................ , le ............................", 0, 70)]),
    _Kind("en", Office, "boxes with a small label inside", ("Landlord", "Tenant"), (230, 0),
        [Box(0, -40, 210, 80), Words("Signature ({})", 5, 28, 7)],
        sign=(0, -40, 210)),
    _Kind("de", Browser, "underscores in two columns", ("Vermieterin", "Mieter"), (250, 0),
        [Words("_" * 34), Words("{}", 0, -14)],
        sign=(0, 0, _blank(34)),
        once=[Words("Berlin, den ____________________", 0, 60)]),
    _Kind("en", Strokes, "an X before the line", ("Employer", "Employee"), (0, -70),
        [
            *(Words("X", 0, 2), Rule(14, 0, 230), Words("{}", 14, -12, 9)),
            *(Rule(290, 0, 120), Words("Date", 290, -12, 9)),
        ],
        sign=(14, 0, 230)),
    _Kind("fr", Latex, "employer and employee with names",
        (("L’employeur", _NAMES[0]), ("Le salarié", _NAMES[1])), (240, 0),
        [Words("{}", 0, 60), Words("{1}", 0, 46), Rule(0, -10, 180), Words("Date et signature", 0, -22, 8)],
        sign=(0, -10, 180)),
    _Kind("de", Office, "a line on every party's page of a handover",
        ("Unterschrift des Vermieters", "Unterschrift des Mieters"), (0, -70),
        [Words("{}"), Rule(150, -2, 240)],
        sign=(150, 0, 240),
        once=[Words(_ANNEX, 0, 60, 12), Rule(0, 57, width(_ANNEX, 12))]),
    _Kind("en", Browser, "signature and date in one row", ("Client", "Contractor"), (0, -60),
        [Words("{} signature: " + "_" * 24 + "   Date: " + "_" * 14)],
        sign=("{} signature: ", 0, _blank(24))),
    _Kind("de", Strokes, "company stamp and signature", ("Auftraggeber", "Auftragnehmer"), (245, 0),
        [Words("Für den {}:", 0, 70), Rule(0, 0, 205), Words("Datum, Stempel, Unterschrift", 0, -11, 8)],
        sign=(0, 0, 205), pages=5),
    _Kind("en", Office, "a table of parties", (("Landlord", _NAMES[0]), ("Tenant", _NAMES[1])), (180, 0),
        [Words("{}", 95, 18), Words("{1}", 95, -26), *(Box(90, -44 * row, 180, 44) for row in range(4))],
        sign=(90, -88, 180),
        once=[
            *(Words(head, 5, 18 - 44 * row) for row, head in enumerate(("", "Name", "Signature", "Date"))),
            *(Box(0, -44 * row, 90, 44) for row in range(4)),
        ]),
    _Kind("fr", Browser, "bordered halves of one line", ("du vendeur", "de l’acheteur"), (225, 0),
        [Rule(0, 0, 225), Words("Signature {}", 4, -13, 9)],
        sign=(0, 0, 225)),
]  # fmt: skip
