"""Everything that fuzzing ever found, and every seed that it begins with, ends in an answer or a refusal."""

import random
from pathlib import Path

import pytest

from lab import fuzz
from lab.fuzz.altered.trial import run_kept
from lab.fuzz.targets import TARGETS, run, seeds
from tests import independent
from tests.pdf.pairs import check_pair

KEPT = Path(fuzz.__file__).parent / "seeds"


def _pairs(data: bytes) -> None:
    """Check a find of ``lab.fuzz.pairs``, with and without the sandbox."""
    independent.need("pdftoppm", "poppler-utils")
    check_pair(data, sandbox=True)
    check_pair(data, sandbox=False)


_RUNNERS = {**TARGETS, "pairs": _pairs, "altered": run_kept}


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds(name: str) -> None:
    for seed in seeds(name):
        run(TARGETS[name], seed)


@pytest.mark.parametrize("times", [1, pytest.param(6, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_with_a_few_bytes_changed(name: str, times: int) -> None:
    chance = random.Random(name)
    for seed in seeds(name) * times:
        changed = bytearray(seed)
        for _ in range(chance.randint(1, 8)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        run(TARGETS[name], bytes(changed))


@pytest.mark.parametrize("path", sorted(KEPT.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found(path: Path) -> None:
    run(_RUNNERS[path.parent.name], path.read_bytes())


def test_every_kept_seed_has_a_target() -> None:
    assert {path.parent.name for path in KEPT.glob("*/*")} <= set(_RUNNERS)
