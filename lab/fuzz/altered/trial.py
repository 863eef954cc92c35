"""Make one altered file and judge it."""

from pathlib import Path

from lab.fuzz.altered.covers import NotSealed
from lab.fuzz.altered.judge import accepts, complaint
from lab.fuzz.altered.known import NotHere
from lab.fuzz.altered.recipes import Recipe, altered, combined, from_json


def tried(recipe: Recipe) -> tuple[str, str, bytes]:
    """Return the outcome, why it is a find (empty if it is none), and the file."""
    try:
        made = altered(recipe)
    except NotSealed:
        return "refused when it was to be sealed again", "", b""
    except NotHere:
        return "not to be made", "", b""
    if not accepts(made.content):
        return "not valid", "", made.content
    return "valid", complaint(made), made.content


def trial(seed: int, number: int, current: Path) -> tuple[str, str]:
    """Make and judge file ``number`` of a seed, as :data:`lab.fuzz.workers.Trial` says."""
    recipe = combined(seed, number)
    current.write_text(recipe.to_json())
    outcome, found, content = tried(recipe)
    if found:
        current.with_name(f"{seed}-{number}.pdf").write_bytes(content)
    return outcome, f"({recipe.name}) {found}" if found else ""


def run_kept(data: bytes) -> None:
    """Check that a recipe that ``lab.fuzz.altered`` once found is no find any more."""
    recipe = from_json(data)
    _, found, _ = tried(recipe)
    assert not found, f"{recipe.name}: {found}"
