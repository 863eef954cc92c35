"""The blocks of code of README.md and docs/*.md, as Markdown has them: between fences, or indented; and what
``table.md`` says of them."""

import re
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
_BLOCK = re.compile(
    r"^#+ (?P<heading>[^\n]+)$"
    r"|^(?P<indent> *)```[^`\n]*\n(?P<fenced>.*?)^(?P=indent)```$"
    r"|(?<=\n\n)(?P<indented>(?:^ {4}[^\n]*\n|^ *\n(?= {4}))+)",
    re.MULTILINE | re.DOTALL,
)
_ROW = re.compile(r"\| (.+?) \| `(.+?)` \| (\w+) \| (.+) \|")


@dataclass(frozen=True)
class Block:
    page: str
    heading: str
    text: str

    @property
    def key(self) -> str:
        """What says which block it is, however others move: page, heading and first line."""
        return f"{self.page} # {self.heading}: {self.text.splitlines()[0]}"


@cache
def blocks() -> tuple[Block, ...]:
    return tuple(block for page in PAGES for block in read(page.relative_to(PROJECT).as_posix(), page.read_text()))


def read(page: str, text: str) -> list[Block]:
    found, heading = [], ""
    for match in _BLOCK.finditer(text):
        if match["heading"]:
            heading = match["heading"]
        else:
            found.append(Block(page, heading, textwrap.dedent(match["fenced"] or match["indented"])))
    return found


class Row(NamedTuple):
    """What becomes of a block. ``run``: by which tests, or why by none."""

    heading: str
    begins: str
    kind: str
    run: str

    @property
    def tests(self) -> list[str]:
        return re.findall(r"`(tests/[^`]+)`", self.run)


@cache
def table() -> dict[str, list[Row]]:
    """The rows of ``table.md`` by page."""
    found: dict[str, list[Row]] = {}
    for part in (Path(__file__).parent / "table.md").read_text().split("\n## ")[1:]:
        page, _, rows = part.partition("\n")
        found[page] = [Row(*cells)._replace(begins=cells[1].replace(r"\n", "\n")) for cells in _ROW.findall(rows)]
    return found


def rows_of(block: Block, table: dict[str, list[Row]]) -> list[Row]:
    return [
        row for row in table.get(block.page, ()) if row.heading == block.heading and block.text.startswith(row.begins)
    ]


def prose(text: str) -> list[str]:
    """Each piece of code within sentences and tables."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL))


def changed(page: str, begins: str, changes: dict[str, str]) -> str:
    """The page's one block that begins so. Each change has to find what it changes."""
    [text] = [each.text for each in blocks() if each.page == page and each.text.startswith(begins)]
    for old, new in changes.items():
        assert old in text, f"{old!r} is not in the block any more"
        text = text.replace(old, new)
    return text


def shape(value: object) -> object:
    """The names in an example and the types of their values, a list by its first entry."""
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items()}
    return [shape(each) for each in value[:1]] if isinstance(value, list) else type(value)
