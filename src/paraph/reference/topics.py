"""Topics of the reference: each with an address of its own, and all of them on one page."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from django.utils.safestring import SafeString, mark_safe

from paraph.reference.fields import JsonObject

_HEADING = re.compile(
    r'<h(?P<level>[23]) id="(?P<id>[^"]+)"><a [^>]*>(?P<name>.*?)</a></h[23]>'
    r'(?:\s*<p class="route">(?P<method><span class="method.*?</span>))?'
)


@dataclass(frozen=True)
class Part:
    """A heading within a topic. ``method``: of a call, as HTML."""

    id: str
    name: SafeString
    method: SafeString


@dataclass(frozen=True)
class Topic:
    """``id``: of its heading. ``html``: as it stands on the page of all, below one heading of the first level.
    ``anchors``: all that can be linked to in it."""

    group: str
    id: str
    name: SafeString
    parts: list[Part]
    html: str
    anchors: frozenset[str]


def read_topic(group: str, html: str) -> Topic:
    """Return what the HTML of a topic has to link to: its heading is the first of its second level."""
    first, *parts = (
        (each["level"], Part(each["id"], mark_safe(each["name"]), mark_safe(each["method"] or "")))  # noqa: S308  ours
        for each in _HEADING.finditer(html)
    )
    topic = first[1]
    return Topic(
        group, topic.id, topic.name, [part for _, part in parts], html, frozenset(re.findall(r' id="([^"]+)"', html))
    )


def all_on_one(title: str, topics: list[Topic]) -> JsonObject:
    """Return what the page of all topics shows."""
    entries = [{"topic": each, "address": f"#{each.id}", "open": True} for each in topics]
    return {"entries": entries, "body": _safe(title, *(each.html for each in topics)), "whole": True}


def on_their_pages(title: str, topics: list[Topic]) -> dict[str, JsonObject]:
    """Return what each page shows, by its address after ``/docs/``: the first topic stands below the title."""
    first = topics[0]
    addresses = {first.id: "/docs"} | {each.id: f"/docs/{each.id}" for each in topics[1:]}
    places = {anchor: each.id for each in topics for anchor in each.anchors}
    turns = dict(_turns(topics))
    pages = {}
    for topic in topics:
        html = title + topic.html if topic is first else _raised(topic.html)
        entries = [
            {"topic": each, "address": addresses[each.id], "open": each is topic, "current": each is topic}
            for each in topics
        ]
        pages["" if topic is first else topic.id] = {
            "topic": topic,
            "entries": entries,
            "body": _safe(_linked(html, topic, addresses, places)),
            "turns": [
                {"way": way, "name": each.name, "address": addresses[each.id]} for way, each in turns[topic.id].items()
            ],
        }
    return pages


def _turns(topics: list[Topic]) -> Iterable[tuple[str, dict[str, Topic]]]:
    turns: dict[str, dict[str, Topic]] = {each.id: {} for each in topics}
    for one, other in pairwise(topics):
        turns[other.id]["prev"] = one
        turns[one.id]["next"] = other
    return turns.items()


def _raised(html: str) -> str:
    """Return the same a level higher: what is a part of the whole is the heading of its own page."""
    return re.sub(r"(</?h)([2-4])\b", lambda found: f"{found[1]}{int(found[2]) - 1}", html)


def _linked(html: str, topic: Topic, addresses: dict[str, str], places: dict[str, str]) -> str:
    """Return the same with links to other topics leading to their pages."""

    def address(found: re.Match[str]) -> str:
        anchor = found[1]
        place = places.get(anchor, topic.id)
        if place == topic.id:
            return found[0]
        return f'href="{addresses[place]}"' if anchor == place else f'href="{addresses[place]}#{anchor}"'

    return re.sub(r'href="#([^"]+)"', address, html)


def _safe(*parts: str) -> SafeString:
    return mark_safe("\n".join(parts))  # noqa: S308  rendered by templates
