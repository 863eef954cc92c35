"""No file altered after its seal by somebody without the key is valid, whatever signature or timestamp covers it."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from lab.fuzz.altered import hostile_evidence
from lab.fuzz.altered.covers import COVERS, NotSealed
from lab.fuzz.altered.genuine import GENUINE, WAITING, genuine
from lab.fuzz.altered.judge import accepts, complaint, picture_changed
from lab.fuzz.altered.known import NotHere
from lab.fuzz.altered.recipes import FREEDOMS, Altered, Recipe, altered, combined, endings, from_json, variant
from lab.fuzz.altered.rows import ROWS
from lab.fuzz.altered.trial import tried
from tests import independent

_VARIANTS = 5  # of each freedom
_EVERY = 9  # the short form tries every ninth freedom
_CLASSES = sorted({name.partition(":")[0] for name in FREEDOMS})


@pytest.fixture(autouse=True)
def _poppler() -> None:
    independent.need("pdftoppm", "poppler-utils")


def _finds(recipes: list[Recipe]) -> list[str]:
    return [f"{recipe.name}: {found}" for recipe in recipes if (found := tried(recipe)[1])]


_IN_SHORT_AND_ALL = pytest.mark.parametrize("all_of_it", [False, pytest.param(True, marks=pytest.mark.thorough)])


@_IN_SHORT_AND_ALL
@pytest.mark.parametrize("row", ROWS)
def test_what_was_found(row: str, *, all_of_it: bool) -> None:
    """The short form tries about a dozen recipes of each find, spread over all of them."""
    assert _finds(ROWS[row] if all_of_it else ROWS[row][:: -(-len(ROWS[row]) // 12)]) == []


@_IN_SHORT_AND_ALL
@pytest.mark.parametrize("kind", _CLASSES)
def test_the_freedoms_of_each_class(kind: str, *, all_of_it: bool) -> None:
    names = [name for name in FREEDOMS if name.startswith(f"{kind}:")]
    if all_of_it:
        assert _finds([variant(name, number) for name in names for number in range(_VARIANTS)]) == []
    else:
        assert _finds([variant(name, number % 4) for number, name in enumerate(names[::_EVERY])]) == []


@_IN_SHORT_AND_ALL
def test_bytes_behind_the_end(*, all_of_it: bool) -> None:
    assert _finds(endings() if all_of_it else endings()[::3]) == []


@pytest.mark.thorough
def test_a_thousand_combinations() -> None:
    assert _finds([combined(1, number) for number in range(1000)]) == []


def test_there_are_more_than_a_thousand_variants() -> None:
    recipes = [variant(name, number) for name in FREEDOMS for number in range(_VARIANTS)]
    recipes += [*endings(), *(recipe for row in ROWS.values() for recipe in row)]
    assert len({recipe.name for recipe in recipes}) > 2000
    assert {recipe.genuine for recipe in recipes} == {*GENUINE, *WAITING}
    assert {recipe.cover for recipe in recipes} == set(COVERS)


@pytest.mark.parametrize("kind", _CLASSES)
def test_every_freedom_changes_something(kind: str) -> None:
    assert [name for name in FREEDOMS if name.startswith(f"{kind}:") and not _changes_something(name)] == []


def _changes_something(name: str) -> bool:
    """Return whether the freedom changes any of these genuine files, with a store or forged content beside it."""
    bases = (
        "letter B-T",
        "form B-LTA",
        "packed form B-LTA",
        "encrypted letter B-LTA",
        "turned letter B-LTA",
        "proof B-LTA",
    )
    return any(
        _changes(Recipe(base, (name,), payload)) for base in (*bases, *WAITING) for payload in ("store", "forged")
    )


def _changes(recipe: Recipe) -> bool:
    try:
        made = altered(recipe).content
    except NotHere:
        return False
    assert made.startswith(genuine(recipe.genuine))
    return made != altered(replace(recipe, freedoms=())).content


def test_a_recipe_always_makes_the_same_file() -> None:
    chance = Random(1)
    for number in chance.sample(range(10**6), 12):
        recipe = combined(7, number)
        try:
            first = altered(recipe)
        except (NotHere, NotSealed):
            continue
        assert altered(from_json(recipe.to_json())) == first
        assert first.content.startswith(genuine(recipe.genuine))


def test_the_judge_sees_another_picture() -> None:
    """The judge finds a forged page, and bytes after the end of a valid file."""
    forged = altered(Recipe("letter B-T", (), "forged"))
    before = genuine("letter B-T")
    assert picture_changed(before, forged.content) == "PDFium shows another page 1"
    assert not picture_changed(before, before + b"\n")
    assert accepts(before)
    behind = Altered(Recipe("letter B-T"), before + b"\n%", before, len(before), must_be_refused=False)
    assert complaint(behind) == "valid with 1 bytes after the newest signature that is trusted"
    assert not complaint(Altered(Recipe("letter B-T"), before + b"\n\0", before, len(before), must_be_refused=False))


@pytest.mark.thorough
@pytest.mark.parametrize("name", hostile_evidence.CASES)
def test_files_that_want_to_use_up_the_machine(name: str, tmp_path: Path) -> None:
    """Whatever the file, ``paraph verify`` ends within 10 s of processor time and 600 MiB, without a traceback."""
    assert hostile_evidence.complaint(hostile_evidence.CASES[name](), tmp_path) == ""
