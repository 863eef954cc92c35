"""The page as a reader of HTML finds it."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "link", "img", "br", "input", "hr", "wbr"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None]
    parent: "Element | None"
    children: list[Any] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(each if isinstance(each, str) else each.text for each in self.children)

    def all(self, *tags: str) -> "list[Element]":
        """Return the elements inside with one of these tags, in order; with any tag where none is named."""
        found = []
        for each in self.children:
            if isinstance(each, Element):
                found += [each] if not tags or each.tag in tags else []
                found += each.all(*tags)
        return found


class Tree(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.root = self.here = Element("", {}, None)
        self.feed(html)
        assert self.here is self.root, f"<{self.here.tag}> is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs), self.here)
        self.here.children.append(element)
        if tag not in VOID:
            self.here = element

    def handle_endtag(self, tag: str) -> None:
        assert self.here.tag == tag, f"</{tag}> closes <{self.here.tag}>"
        assert self.here.parent
        self.here = self.here.parent

    def handle_data(self, data: str) -> None:
        self.here.children.append(data)


def parse(html: str) -> Element:
    return Tree(html).root


def snippet(root: Element, name: str) -> str:
    """The code with this id, as it would be pasted."""
    [code] = [each for each in root.all("code") if each.attributes.get("id") == name]
    return code.text


def colors(css: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the colors of the light page and of the dark page by their custom properties."""
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    read = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for part in (light, dark)]
    return read[0], read[1]
