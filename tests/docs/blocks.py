"""The blocks of code of README.md and docs/*.md, as Markdown has them: between fences, or indented."""

import re
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
_BLOCK = re.compile(
    r"^#+ (?P<heading>[^\n]+)$"
    r"|^(?P<indent> *)```[^`\n]*\n(?P<fenced>.*?)^(?P=indent)```$"
    r"|(?<=\n\n)(?P<indented>(?:^ {4}[^\n]*\n|^ *\n(?= {4}))+)",
    re.MULTILINE | re.DOTALL,
)


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
