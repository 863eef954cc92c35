"""``GET /docs/{topic}`` and ``/docs/{topic}.md``: a page for each topic, and one with all of them, as HTML and as
Markdown; and ``/llms.txt``. They are the same for everybody until the version or the address of the service changes."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.views.decorators.http import etag, require_safe

from paraph.api.v1 import codes as api_codes
from paraph.api.v1.openapi import FIELDS, SMALLEST_PDF, document
from paraph.kernel.rates import PerHourAndDay
from paraph.reference.markdown import markdown_of
from paraph.reference.operations import (
    GUIDE_SAMPLES,
    JsonObject,
    OperationEntry,
    SchemaReader,
    breakable,
    inline,
    paragraphs,
    read_operation,
)
from paraph.server.bodies import Compressed
from paraph.signer import described
from paraph.tenants import limits
from paraph.tenants.limits import ALLOWANCES, PRODUCTION_RATES, SANDBOX_RATE
from paraph.tenants.models import Environment, Plan

_MARKDOWN = "text/markdown; charset=utf-8"
_PLACES = {Environment.SANDBOX: "the sandbox", Environment.PRODUCTION: "production"}

Row = tuple[str, str, str]
"""What is counted; how many in an hour and in a day, or in a minute and in an hour."""
# Calls that are tried go to the service that the page came from: connect-src.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADING = re.compile(
    r'<h[23] id="(?P<id>[^"]+)"><a [^>]*>(?P<name>.*?)</a></h[23]>'
    r'(?:\s*<p class="route">(?P<method><span class="method.*?</span>))?'
)


@dataclass(frozen=True)
class Part:
    """A heading within a topic. ``method``: the HTTP method of a call, as HTML."""

    id: str
    name: SafeString
    method: SafeString


@dataclass(frozen=True)
class Topic:
    """``id``: of its heading. ``html``: as it stands on the page of all topics, below one heading of the first level.
    ``anchors``: everything in it that links can lead to."""

    group: str
    id: str
    name: SafeString
    parts: list[Part]
    html: str
    anchors: frozenset[str]


def message_ceilings() -> list[Row]:
    given, (sms_of_organization, sms_to_country) = settings.PARAPH, limits.sms_ceilings()
    named = [
        ("To one address or number in production, from your organization", given.messages_per_destination),
        ("To one address or number in production, from all organizations", given.messages_per_destination_in_all),
        ("To one address or number in the sandbox, from all organizations", given.messages_per_destination),
        *[
            (f"Of your organization in {_PLACES[place]}, {plan.label}", limits.message_ceilings(plan, place))
            for place in Environment
            for plan in Plan
        ],
        ("SMS of your organization, in each environment", sms_of_organization),
        ("SMS to one calling code (+33, +1) from all organizations, in each environment", sms_to_country),
    ]
    return [(name, *_written(limit)) for name, limit in named]


def _written(limit: PerHourAndDay) -> tuple[str, str]:
    hour, day = (f"{number:,}" if number else "no limit" for number in limit)
    return hour, day


_GUIDES = (
    "start", "clients", "authentication", "environments", "errors", "unknown-fields", "rate-limits",
    "message-limits", "idempotency", "catching-up", "testing", "pagination", "fields-guide", "templates-guide",
    "drafts-guide", "correcting", "verifying", "plans", "keeping", "versioning", "changelog",
)  # fmt: skip


@dataclass(frozen=True)
class OperationGroup:
    id: str
    name: str
    description: SafeString
    operations: list[OperationEntry]


def contents() -> JsonObject:
    content: JsonObject = json.loads(document())
    reader = SchemaReader(content["components"]["schemas"])
    address = settings.PARAPH.public_url
    return {
        "info": content["info"],
        "description": paragraphs(content["info"]["description"]),
        "address": address,
        "sections": _sections(content, reader),
        "signer_endpoints": _operations(reader, described.signer_paths()),
        "webhooks": [
            read_operation(reader, f"webhook-{event.replace('.', '-')}", "post", event, path["post"])
            for event, path in content["webhooks"].items()
        ],
        "headers": {name: inline(each["description"]) for name, each in content["components"]["headers"].items()},
        "errors": _errors(api_codes.CODES),
        "signer_errors": _errors(described.CODES),
        "rates": _rates(),
        "message_ceilings": message_ceilings(),
        "wrong_codes": settings.PARAPH.wrong_codes_per_destination,
        "wrong_codes_of_organization": settings.PARAPH.wrong_codes_per_organization,
        "plans": [(plan.label, allowance) for plan, allowance in ALLOWANCES.items()],
        "kept": _kept(),
        "upload_limit": settings.PARAPH.upload_limit_mb,
        "samples": {
            name: {language: text.replace("{address}", address) for language, text in each.items()}
            for name, each in GUIDE_SAMPLES.items()
        },
        "fields_json": json.dumps(FIELDS, indent=2),
        "scripts": [f"reference/{name}.js" for name in ("samples", "colors", "search", "contents", "try")],
        "empty_pdf": SMALLEST_PDF,
    }


def _errors(codes: Mapping[str, api_codes.Code | described.Code]) -> list[JsonObject]:
    """Return the rows of a table of codes."""
    return [
        {"code": code, "shown_code": breakable(code), "status": each.status}
        | {"cause": inline(each.when), "remedy": inline(each.remedy)}
        for code, each in codes.items()
    ]


def _rates() -> list[Row]:
    production = PRODUCTION_RATES.items()
    named = [
        ("Sandbox, every plan", SANDBOX_RATE),
        *((f"Production, {plan.label}", rate) for plan, rate in production if ALLOWANCES[plan].production),
    ]
    return [(name, f"{rate.per_minute:,}", f"{rate.per_hour:,}") for name, rate in named]


def _kept() -> dict[str, str]:
    asked = settings.PARAPH
    limits = {
        "megabytes": asked.sandbox_storage_mb,
        "requests": asked.sandbox_requests,
        "templates": asked.kept_templates,
        "drafts": asked.kept_drafts,
        "bulk_rows": asked.kept_bulk_rows,
    }
    return {name: f"{limit:,}" for name, limit in limits.items()}


def _sections(content: JsonObject, reader: SchemaReader) -> list[OperationGroup]:
    sections = {
        tag["name"]: OperationGroup(slugify(tag["name"]), tag["name"], paragraphs(tag["description"]), [])
        for tag in content["tags"]
        if tag["name"] != "Webhooks"
    }
    for path, operations in content["paths"].items():
        for operation, shown in zip(operations.values(), _operations(reader, {path: operations}), strict=True):
            sections[operation["tags"][0]].operations.append(shown)
    return list(sections.values())


def _operations(reader: SchemaReader, paths: JsonObject) -> list[OperationEntry]:
    return [
        read_operation(reader, operation["operationId"], method, path, operation)
        for path, operations in paths.items()
        for method, operation in operations.items()
    ]


def _topics(given: JsonObject) -> list[Topic]:
    """Return the guides, then the resources, then what is not called with a key."""

    def read(group: str, template: str, **more: object) -> Topic:
        return read_topic(group, render_to_string(f"reference/{template}.html", given | more))

    return [
        *(read("Guides", f"guides/{name}") for name in _GUIDES),
        *(read("Resources", "resource", section=section) for section in given["sections"]),
        *(read("Webhooks and signing pages", name) for name in ("webhooks", "signer")),
    ]


@cache
def _pages() -> dict[str, Compressed]:
    """Return the pages by the part of their address after ``/docs/``, ``llms.txt`` among them."""
    given = contents()
    title = render_to_string("reference/guides/title.html", given)
    topics = _topics(given)
    entries = [{"topic": each, "address": f"#{each.id}", "open": True} for each in topics]
    whole = {"entries": entries, "body": _safe(title, *(each.html for each in topics)), "whole": True}
    bodies = on_their_pages(title, topics) | {"all": whole}
    pages = {
        address: Compressed(render_to_string("reference/page.html", given | body).encode(), "text/html; charset=utf-8")
        for address, body in bodies.items()
    }
    for address, body in bodies.items():
        pages[f"{address or topics[0].id}.md"] = Compressed(markdown_of(body["body"]).encode(), _MARKDOWN)
    listed = _list_of(given["info"]["title"], given["info"]["summary"], given["address"], topics)
    return pages | {"llms.txt": Compressed(listed.encode(), _MARKDOWN)}


@cache
def _digest(topic: str) -> str:
    return f'W/"{hashlib.sha256(_found(topic).content).hexdigest()[:32]}"'  # weak: of the compressed form as well


def _found(topic: str) -> Compressed:
    if topic not in _pages():
        raise Http404
    return _pages()[topic]


@require_safe
@etag(lambda request, topic="": _digest(topic))  # noqa: ARG005  Django's form
def page(request: HttpRequest, topic: str = "") -> HttpResponse:
    """Return the page of a topic, by default the first, or 304 for a browser that has it already."""
    response = _found(topic).response(request)
    response["Content-Security-Policy"] = _POLICY
    response["Cache-Control"] = "no-cache"  # browsers ask each time, and get 304
    return response


def read_topic(group: str, html: str) -> Topic:
    """Return the topic that the HTML holds, with its headings and anchors: the first heading is its own."""
    topic, *parts = (
        Part(each["id"], mark_safe(each["name"]), mark_safe(each["method"] or ""))  # noqa: S308  ours
        for each in _HEADING.finditer(html)
    )
    return Topic(group, topic.id, topic.name, parts, html, frozenset(re.findall(r' id="([^"]+)"', html)))


def on_their_pages(title: str, topics: list[Topic]) -> dict[str, JsonObject]:
    """Return what each page shows, by its address after ``/docs/``: the first topic stands below the title."""
    first = topics[0]
    addresses = {first.id: "/docs"} | {each.id: f"/docs/{each.id}" for each in topics[1:]}
    places = {anchor: each.id for each in topics for anchor in each.anchors}
    turns: dict[str, dict[str, Topic]] = {each.id: {} for each in topics}
    for one, other in pairwise(topics):
        turns[other.id]["prev"], turns[one.id]["next"] = one, other
    pages = {}
    for topic in topics:
        html = title + topic.html
        if topic is not first:  # a level higher: here the topic has a page of its own
            html = re.sub(r"(</?h)([2-4])\b", lambda found: f"{found[1]}{int(found[2]) - 1}", topic.html)
        entries = [
            {"topic": each, "address": addresses[each.id], "open": each is topic, "current": each is topic}
            for each in topics
        ]
        around = [
            {"way": way, "name": each.name, "address": addresses[each.id]} for way, each in turns[topic.id].items()
        ]
        body = _safe(_linked(html, topic, addresses, places))
        pages["" if topic is first else topic.id] = {"topic": topic, "entries": entries, "body": body, "turns": around}
    return pages


def _linked(html: str, topic: Topic, addresses: dict[str, str], places: dict[str, str]) -> str:
    """Return the HTML with its links to other topics leading to their pages."""

    def address(found: re.Match[str]) -> str:
        anchor = found[1]
        place = places.get(anchor, topic.id)
        if place == topic.id:
            return found[0]
        return f'href="{addresses[place]}"' if anchor == place else f'href="{addresses[place]}#{anchor}"'

    return re.sub(r'href="#([^"]+)"', address, html)


def _safe(*parts: str) -> SafeString:
    return mark_safe("\n".join(parts))  # noqa: S308  rendered by templates


def _list_of(title: str, summary: str, address: str, topics: list[Topic]) -> str:
    """Return the text of ``llms.txt``: where each topic stands as Markdown (https://llmstxt.org)."""
    lines = [f"# {title}", "", f"> {summary}", ""]
    group = ""
    for topic in topics:
        if topic.group != group:
            group = topic.group
            lines += ["", f"## {group}", ""]
        lines.append(f"- [{topic.name}]({address}/docs/{topic.id}.md)")
    lines += ["", "## Everything", "", f"- [All topics]({address}/docs/all.md)"]
    lines.append(f"- [OpenAPI document]({address}/api/v1/openapi.json)")
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"
