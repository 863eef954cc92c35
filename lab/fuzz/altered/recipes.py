"""How an altered file is made: from a genuine one, by freedoms, under a signature or timestamp, with bytes appended."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from lab.fuzz.altered import (
    crossreferences,
    fields,
    packing,
    pages,
    properties,
    spelling,
    stamps,
    stores,
    trailers,
    waiting,
)
from lab.fuzz.altered.covers import ACCEPTED, COVERS, OVER, UNDER_SEALS, WITHIN, add_signature, sealed_again
from lab.fuzz.altered.genuine import GENUINE, genuine
from lab.fuzz.altered.known import Known, known
from lab.fuzz.altered.stores import honest_store
from lab.fuzz.altered.tail import Tail
from lab.fuzz.mutation import mutated

_CLASSES = {
    "crossreferences": crossreferences.FREEDOMS,
    "trailers": trailers.FREEDOMS,
    "spelling": spelling.FREEDOMS,
    "properties": properties.FREEDOMS,
    "packing": packing.FREEDOMS,
    "fields": fields.FREEDOMS,
    "pages": pages.FREEDOMS,
    "stores": stores.FREEDOMS,
    "stamps": stamps.FREEDOMS,
    "waiting": waiting.FREEDOMS,
}
FREEDOMS: dict[str, Callable[[Tail, Random], None]] = {
    f"{kind}: {name}": alter for kind, freedoms in _CLASSES.items() for name, alter in freedoms.items()
}
"""Every freedom, by the name of its class and its own name."""

LAWFUL = {
    "stamps: a timestamp with /M",  # as other programs write it; no reader shows it
    "stamps: a timestamp with /Prop_Build",
    "stamps: a timestamp of the type of a signature",  # as Adobe and others write it; /SubFilter says what it is
    "stamps: a timestamp with /Type twice",  # both are types of signatures; one writer's older signatures have them
    "trailers: /ID is another",  # in a file that is not encrypted, nothing depends on it
    *(
        f"crossreferences: {name}"
        for name in (
            "entries end in CRLF",
            "entries end in CR",
            "object 0 free",
            "objects on one line",
            "startxref in CR",
            "CR after xref",
            "CRLF after xref",
            "subsections in CRLF",
            "widths without generations",
            "the other kind of cross-reference",
        )
    ),
    "trailers: the keyword trailer on one line",
    "trailers: /Encrypt null",
    "fields: a timestamp's field: /TU",
    "pages: the catalog: /Version 1.4",
    "pages: the catalog: /Version 2.0",
    "spelling: the page once more",
    "stores: a direct store",
    "stores: data with no filter",
    "waiting: the length that the file states",
}
"""Freedoms that the standard allows and that change nothing: a revision need not be refused for them."""

ENDINGS = {
    "": b"",
    "a byte": b"x",
    "a zero": b"0",
    "a comment": b"% a comment\n",
    "a comment without a line break": b"%",
    "a second end": b"%%EOF\n",
    "another startxref": b"startxref\n15\n%%EOF\n",
    "an object": b"9000 0 obj\n<</Type/Catalog>>\nendobj\n",
    "a trailer": b"trailer\n<</Root 1 0 R>>\n",
    "an archive": b"PK\x05\x06" + bytes(18),
    "a byte behind white space": b"\n" * 5000 + b".",
    "a script": b"<script>alert(1)</script>",
    "letters in UTF-8": "\u00a0".encode(),
    "a vertical tab": b"\x0b",
    "a byte beyond ASCII": b"\x85",
}
_TRUSTED = (
    ("bare",),
    ("with a trusted timestamp", "under a trusted timestamp"),
    ("with a trusted signature", "under a trusted signature"),
    tuple(UNDER_SEALS),
)
_WHOLE = "a whole PDF"
PAYLOADS = ("nothing", "forged", "store", "hidden")
"""What else the revision holds: the forged content, listed or not, or evidence that may be added."""


@dataclass(frozen=True)
class Recipe:
    """How to make one altered file. ``seed``: of the random choices of freedoms and mutations."""

    genuine: str
    freedoms: tuple[str, ...] = ()
    payload: str = "nothing"
    cover: str = "bare"
    ending: str = ""
    mutations: int = 0
    cover_of_mutant: str = "bare"
    seed: str = ""

    @property
    def name(self) -> str:
        """Describe the recipe in a short line."""
        parts = [self.genuine, *self.freedoms]
        parts += [self.payload] if self.payload != "nothing" else []
        parts += [self.cover] if self.cover != "bare" else []
        parts += [f"mutated by {self.mutations} ({self.seed})"] if self.mutations else []
        parts += [self.cover_of_mutant] if self.cover_of_mutant != "bare" else []
        parts += [f"then {self.ending}"] if self.ending else []
        return "; ".join(parts)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"


def from_json(text: str | bytes) -> Recipe:
    values: dict[str, Any] = json.loads(text)
    return Recipe(**{**values, "freedoms": tuple(values["freedoms"])})


@dataclass(frozen=True)
class Altered:
    """A file made by a recipe. ``accepted``: where its newest trusted signature or timestamp ends, if that is known."""

    recipe: Recipe
    content: bytes
    genuine: bytes
    accepted: int | None
    must_be_refused: bool


def altered(recipe: Recipe) -> Altered:
    """Make the file of a recipe, the same one each time. Raise :class:`~lab.fuzz.altered.covers.NotSealed` or
    :class:`~lab.fuzz.altered.tail.NotHere`."""
    content, accepted = _made(recipe)
    harmful = bool(recipe.freedoms) and (
        recipe.payload in ("forged", "hidden") or not LAWFUL.issuperset(recipe.freedoms)
    )
    plain = Recipe(recipe.genuine, (), recipe.payload, recipe.cover, "", seed=recipe.seed)
    refused = (
        harmful and not recipe.mutations and (recipe.payload in ("forged", "hidden") or content != _made(plain)[0])
    )
    end = ENDINGS.get(recipe.ending, genuine("letter B-T") if recipe.ending == _WHOLE else b"")
    return Altered(recipe, content + end, genuine(recipe.genuine), accepted, refused or bool(end))


def _made(recipe: Recipe) -> tuple[bytes, int | None]:
    start, chance = known(recipe.genuine), Random(f"{recipe.seed} {recipe.name}")
    last, signs_itself = start, False
    if recipe.freedoms or recipe.payload != "nothing" or recipe.cover in WITHIN:
        last, signs_itself = _revision(recipe, start, chance)
    content = last.pdf
    accepted: int | None = len(content) if recipe.cover in ACCEPTED else None if signs_itself else len(start.pdf)
    if recipe.cover in OVER:
        content = OVER[recipe.cover](last).pdf
        accepted = len(content) if recipe.cover in ACCEPTED else accepted
    elif recipe.cover in UNDER_SEALS:
        content = sealed_again(content, UNDER_SEALS[recipe.cover])
        accepted = len(content)
    if recipe.mutations:
        content, accepted = _mutant(recipe, last, content, chance), None
    return content, accepted


def _revision(recipe: Recipe, start: Known, chance: Random) -> tuple[Known, bool]:
    """Return the file with its new revision, and whether one of the freedoms signs it."""
    tail = Tail(start)
    if recipe.payload == "forged":
        tail.put(start.amount, start.forged)
    elif recipe.payload == "hidden":
        tail.put(start.amount, start.forged)
        tail.unlisted.add(start.amount)
    elif recipe.payload == "store":
        honest_store(tail)
    for freedom in recipe.freedoms:
        FREEDOMS[freedom](tail, chance)
    signs_itself = tail.signed_by is not None
    if recipe.cover in WITHIN and not signs_itself:
        add_signature(tail, *WITHIN[recipe.cover])
    return tail.write(), signs_itself


def _mutant(recipe: Recipe, last: Known, content: bytes, chance: Random) -> bytes:
    """Change bytes after the genuine file, then cover them if the recipe says so."""
    whole = genuine(recipe.genuine)
    other = known(chance.choice(GENUINE))
    end = content[len(whole) :]
    for _ in range(recipe.mutations):
        end = mutated(chance, end or b"\n", other.pdf)
    if recipe.cover_of_mutant in OVER:
        return OVER[recipe.cover_of_mutant](last.after(pdf=whole + end)).pdf
    return whole + end


def variant(freedom: str, number: int, seed: int = 1) -> Recipe:
    """Return variant ``number`` of a freedom: bare, then under trusted covers, then under any cover."""
    chance = Random(f"{seed} {freedom} {number}")
    base = waiting.OF.get(freedom.partition(": ")[2]) or chance.choice(GENUINE)
    structural = freedom.startswith(("crossreferences", "trailers"))
    payload = chance.choice(PAYLOADS[1:]) if structural else "nothing"
    cover = chance.choice(_TRUSTED[number]) if number < len(_TRUSTED) else chance.choice(COVERS)
    ending = chance.choice(list(ENDINGS)) if number >= len(_TRUSTED) and chance.random() < 0.2 else ""
    return Recipe(base, (freedom,), payload, cover, ending, seed=str(seed))


def endings(seed: int = 1) -> list[Recipe]:
    """Return recipes that append bytes after the newest trusted signature, without any other freedom."""
    chance = Random(f"{seed} endings")
    covers = ("bare", "under a trusted timestamp", "under a trusted signature", "sealed again, B-LTA")
    return [
        Recipe(chance.choice(GENUINE), (), "nothing", cover, ending, seed=str(seed))
        for ending in [*ENDINGS, _WHOLE]
        if ending
        for cover in covers
    ]


def combined(seed: int, number: int) -> Recipe:
    """Return a random recipe of one or two freedoms; two of three also change bytes."""
    chance = Random(f"{seed} {number}")
    freedoms = tuple(chance.sample(list(FREEDOMS), chance.choice([1, 2, 2])))
    mutations = chance.choice([0, 1, 3])
    return Recipe(
        chance.choice(GENUINE),
        freedoms,
        chance.choice(PAYLOADS),
        chance.choice(COVERS),
        chance.choice(list(ENDINGS)) if chance.random() < 0.1 else "",
        mutations,
        chance.choice(["bare", *OVER]) if mutations else "bare",
        f"{seed} {number}",
    )
