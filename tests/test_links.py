"""Links between pages lead to existing files and headings, and so do the decisions and sections that sources name."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
TRACKED = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout.split(
    "\n"
)
PAGES = [name for name in TRACKED if name.endswith(".md")]
SOURCES = [name for name in TRACKED if name.startswith(("src/", "tests/", "lab/", "deploy/", "examples/"))]

_CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_SECTION = re.compile(r"\b(docs/[\w/-]+\.md), \"?([A-Z][\w -]+)")
_NAMED = re.compile(r"\bdocs/decisions/\s*[\w-]+\.md\b")


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_somewhere(name: str) -> None:
    page = PROJECT / name
    for link in _LINK.findall(_CODE.sub("", page.read_text())):
        if ":" in link:
            continue
        path, _, heading = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not heading or heading in anchors(target), link


def test_every_decision_that_a_source_names_is_there() -> None:
    named = {(name, found) for name in SOURCES for found in _NAMED.findall(text(name))}
    assert len(named) > 20
    assert not {(name, found) for name, found in named if not (PROJECT / "".join(found.split())).exists()}


def test_every_section_that_a_source_names_is_there() -> None:
    named = {(name, *found) for name in SOURCES for found in _SECTION.findall(text(name))}
    assert len(named) > 5
    assert not {each for each in named if anchor(each[2]) not in anchors(PROJECT / each[1])}


@cache
def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {anchor(heading) for heading in headings}


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def text(name: str) -> str:
    try:
        return (PROJECT / name).read_text()
    except UnicodeDecodeError:
        return ""  # a picture, a font, a PDF
