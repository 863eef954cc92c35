"""Twenty made-up contracts of usual kinds without a tag, each with the places where its two parties sign."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product

from tests.contracts.drawing import Browser, Latex, Office, Page, Strokes, document, width

MARTA, DENIZ = ("Marta", "Brückner"), ("Deniz", "Öztürk")
LEFT, RIGHT, TOP = 72.0, 523.0, 780.0
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


@dataclass
class Contract:
    """``named``: whether the labels say by name who signs where; otherwise the order says so."""

    name: str
    pages: list[Page]
    places: list[Place] = field(default_factory=list)
    named: bool = False

    @property
    def pdf(self) -> bytes:
        return document(self.pages)

    def sign(self, x: float, y: float, length: float, signer: int) -> None:
        """Add a place of signature on the last page so far."""
        self.places.append(Place(len(self.pages), x, y, length, signer))


Made = Callable[["Contract", Page, float], None]
_MADE: list[tuple[str, type[Page], str, int, Made]] = []


def usual_contracts() -> Iterator[Contract]:
    for language, way, name, count, finish in _MADE:
        contract = Contract(f"{name} ({way.__name__.lower()}, {language})", [])
        for number in range(1, count + 1):
            contract.pages.append(_prose(way(), language, number, count, last=number == count))
        finish(contract, contract.pages[-1], 420.0)
        yield contract


def _made(language: str, way: type[Page], name: str, pages: int = 2) -> Callable[[Made], Made]:
    def add(finish: Made) -> Made:
        _MADE.append((language, way, name, pages, finish))
        return finish

    return add


def _prose(page: Page, language: str, number: int, count: int, *, last: bool) -> Page:
    """Write what is no place to sign: an underlined heading, prose, blanks, a table of numbers, rules at the edges."""
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
    for row, column in () if last else product(range(5), range(3)):
        page.box(LEFT + column * 130, 380 - row * 20, 130, 20)
        words = f"{row * 7 + column}" if row else ("Room", "Area", "Rent")[column]
        page.write(words, LEFT + 6 + column * 130, 386 - row * 20)
    page.rule(LEFT, 60, RIGHT - LEFT)
    page.write(f"{number} / {count}", 280, 46, 8)
    return page


@_made("en", Strokes, "rules with labels below")
def _(contract: Contract, page: Page, y: float) -> None:
    for index, party in enumerate(("Landlord", "Tenant")):
        x = LEFT + index * 250
        page.rule(x, y, 190)
        page.write(f"Signature of the {party.lower()}", x, y - 12, 8)
        contract.sign(x, y, 190, index)


@_made("de", Office, "place and date beside the signature, twice", 3)
def _(contract: Contract, page: Page, y: float) -> None:
    for index, party in enumerate(("Vermieter", "Mieter")):
        level = y - index * 90
        page.rule(LEFT, level, 150)
        page.write("Ort, Datum", LEFT, level - 12, 8)
        page.rule(LEFT + 190, level, 220)
        page.write(f"Unterschrift {party}", LEFT + 190, level - 12, 8)
        contract.sign(LEFT + 190, level, 220, index)


@_made("fr", Browser, "rules with labels above")
def _(contract: Contract, page: Page, y: float) -> None:
    page.write("Fait en deux exemplaires à ______________ le ______________", LEFT, y + 60)
    for index, party in enumerate(("Le bailleur", "Le locataire")):
        x = LEFT + index * 240
        page.write(party, x, y + 20)
        page.rule(x, y - 40, 200)
        contract.sign(x, y - 40, 200, index)


@_made("en", Office, "underscores after the label")
def _(contract: Contract, page: Page, y: float) -> None:
    for index, party in enumerate(("Landlord", "Tenant")):
        level = y - index * 100
        page.write(party + ":", LEFT, level + 30, 11)
        label = "Signature: "
        page.write(label + "_" * 36, LEFT, level)
        page.write("Name: " + "_" * 40, LEFT, level - 24)
        page.write("Date: " + "_" * 24, LEFT, level - 48)
        contract.sign(LEFT + width(label, 10), level, width("_" * 36, 10), index)


@_made("en", Latex, "names under rules", 4)
def _(contract: Contract, page: Page, y: float) -> None:
    contract.named = True
    for index, (first, last) in enumerate((DENIZ, MARTA)):
        x = LEFT + index * 250
        page.rule(x, y, 180)
        page.write(f"{first} {last}", x, y - 12)
        page.write("Date:", x, y - 30)
        contract.sign(x, y, 180, 1 - index)


@_made("de", Strokes, "dotted lines with the party below")
def _(contract: Contract, page: Page, y: float) -> None:
    for index, party in enumerate(("(Vermieter)", "(Mieter)")):
        x, dots = LEFT + index * 250, "." * 60
        page.write(dots, x, y)
        page.write(party, x + 60, y - 12, 8)
        contract.sign(x, y, width(dots, 10), index)


@_made("fr", Office, "a table with heads")
def _(contract: Contract, page: Page, y: float) -> None:
    heads = (("Nom", 120), ("Date", 90), ("Signature", 200))
    for row, words in enumerate(("", "Marta Brückner", "Deniz Öztürk")):
        x = LEFT
        level = y - row * 50
        for head, wide in heads:
            page.box(x, level, wide, 50)
            if row == 0:
                page.write(head, x + 6, level + 20)
            elif head == "Nom":
                page.write(words, x + 6, level + 20)
            elif head == "Signature":
                contract.sign(x, level, wide, row - 1)
            x += wide
    contract.named = True


@_made("en", Browser, "cells with the label beside")
def _(contract: Contract, page: Page, y: float) -> None:
    for index, party in enumerate(("Landlord", "Tenant")):
        level = y - index * 110
        for row, label in enumerate((f"{party}'s signature", "Date")):
            page.box(LEFT, level - row * 50, 130, 50)
            page.box(LEFT + 130, level - row * 50, 220, 50)
            page.write(label, LEFT + 6, level - row * 50 + 20)
        contract.sign(LEFT + 130, level, 220, index)


@_made("de", Latex, "one rule for place, date and signature", 12)
def _(contract: Contract, page: Page, y: float) -> None:
    for index, party in enumerate(("Vermieter", "Mieter")):
        level = y - index * 80
        page.rule(LEFT, level, 420)
        page.write("Ort, Datum", LEFT, level - 11, 8)
        page.write(f"Unterschrift {party}", LEFT + 210, level - 11, 8)
        contract.sign(LEFT + 208, level, 212, index)


@_made("en", Latex, "By, Name, Title")
def _(contract: Contract, page: Page, y: float) -> None:
    page.write("IN WITNESS WHEREOF, the parties have executed this agreement on the date below.", LEFT, y + 90)
    contract.named = True
    for index, (company, (first, last)) in enumerate((("HARBOUR HOMES LTD", MARTA), ("OCEAN CONSULTING LLC", DENIZ))):
        x = LEFT + index * 240
        page.write(company, x, y + 60)
        page.write("By:", x, y)
        page.rule(x + 22, y - 1, 170)
        page.write(f"Name: {first} {last}", x, y - 22)
        page.write("Title: Managing Director", x, y - 38)
        page.write("Date:", x, y - 54)
        page.rule(x + 30, y - 55, 100)
        contract.sign(x + 22, y, 170, index)


@_made("fr", Strokes, "mention over a dotted line")
def _(contract: Contract, page: Page, y: float) -> None:
    page.write("Fait à ............................ , le ............................", LEFT, y + 70)
    for index, party in enumerate(("Signature du bailleur", "Signature du locataire")):
        x, dots = LEFT + index * 240, "." * 64
        page.write(party, x, y + 50)
        page.write("(précédée de la mention « lu et approuvé »)", x, y + 38, 7)
        page.write(dots, x, y - 20)
        contract.sign(x, y - 20, width(dots, 10), index)


@_made("en", Office, "boxes with a small label inside")
def _(contract: Contract, page: Page, y: float) -> None:
    for index, party in enumerate(("Landlord", "Tenant")):
        x = LEFT + index * 230
        page.box(x, y - 40, 210, 80)
        page.write(f"Signature ({party})", x + 5, y + 28, 7)
        contract.sign(x, y - 40, 210, index)


@_made("de", Browser, "underscores in two columns")
def _(contract: Contract, page: Page, y: float) -> None:
    blank = "_" * 34
    page.write("Berlin, den ____________________", LEFT, y + 60)
    for index, party in enumerate(("Vermieterin", "Mieter")):
        x = LEFT + index * 250
        page.write(blank, x, y)
        page.write(party, x, y - 14)
        contract.sign(x, y, width(blank, 10), index)


@_made("en", Strokes, "an X before the line")
def _(contract: Contract, page: Page, y: float) -> None:
    for index, party in enumerate(("Employer", "Employee")):
        level = y - index * 70
        page.write("X", LEFT, level + 2)
        page.rule(LEFT + 14, level, 230)
        page.write(f"{party}", LEFT + 14, level - 12, 9)
        page.rule(LEFT + 290, level, 120)
        page.write("Date", LEFT + 290, level - 12, 9)
        contract.sign(LEFT + 14, level, 230, index)


@_made("fr", Latex, "employer and employee with names")
def _(contract: Contract, page: Page, y: float) -> None:
    contract.named = True
    for index, (party, (first, last)) in enumerate((("L’employeur", MARTA), ("Le salarié", DENIZ))):
        x = LEFT + index * 240
        page.write(party, x, y + 60)
        page.write(f"{first} {last}", x, y + 46)
        page.rule(x, y - 10, 180)
        page.write("Date et signature", x, y - 22, 8)
        contract.sign(x, y - 10, 180, index)


@_made("de", Office, "a line on every party's page of a handover", 2)
def _(contract: Contract, page: Page, y: float) -> None:
    page.write("Anlage: Übergabeprotokoll", LEFT, y + 60, 12)
    page.rule(LEFT, y + 57, width("Anlage: Übergabeprotokoll", 12))
    for index, party in enumerate(("Unterschrift des Vermieters", "Unterschrift des Mieters")):
        level = y - index * 70
        page.write(party, LEFT, level)
        page.rule(LEFT + 150, level - 2, 240)
        contract.sign(LEFT + 150, level, 240, index)


@_made("en", Browser, "signature and date in one row")
def _(contract: Contract, page: Page, y: float) -> None:
    for index, party in enumerate(("Client", "Contractor")):
        level = y - index * 60
        label = f"{party} signature: "
        page.write(label + "_" * 24 + "   Date: " + "_" * 14, LEFT, level)
        contract.sign(LEFT + width(label, 10), level, width("_" * 24, 10), index)


@_made("de", Strokes, "company stamp and signature", 5)
def _(contract: Contract, page: Page, y: float) -> None:
    for index, party in enumerate(("Auftraggeber", "Auftragnehmer")):
        x = LEFT + index * 245
        page.write(f"Für den {party}:", x, y + 70)
        page.rule(x, y, 205)
        page.write("Datum, Stempel, Unterschrift", x, y - 11, 8)
        contract.sign(x, y, 205, index)


@_made("en", Office, "a table of parties")
def _(contract: Contract, page: Page, y: float) -> None:
    contract.named = True
    names = ("Name", "Marta Brückner", "Deniz Öztürk")
    rows = (("", "Landlord", "Tenant"), names, ("Signature", "", ""), ("Date", "", ""))
    for row, cells in enumerate(rows):
        level = y - row * 44
        x = LEFT
        for column, (words, each) in enumerate(zip(cells, (90, 180, 180), strict=True)):
            page.box(x, level, each, 44)
            page.write(words, x + 5, level + 18)
            if cells[0] == "Signature" and column:
                contract.sign(x, level, each, column - 1)
            x += each


@_made("fr", Browser, "bordered halves of one line")
def _(contract: Contract, page: Page, y: float) -> None:
    for index, party in enumerate(("du vendeur", "de l’acheteur")):
        x = LEFT + index * 225
        page.rule(x, y, 225)
        page.write(f"Signature {party}", x + 4, y - 13, 9)
        contract.sign(x, y, 225, index)
