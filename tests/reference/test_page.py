"""``/docs``, a page for each topic and one for all, is whole, readable by everybody, and loads nothing from outside;
and as Markdown it has the same words and code, with links that lead on."""

import gzip
import json
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

import paraph.reference
from paraph.api.v1 import codes as api_codes
from paraph.api.v1.openapi import document
from paraph.kernel.appearance import contrast
from paraph.kernel.rates import PerHourAndDay
from paraph.reference.markdown import markdown_of
from paraph.reference.operations import inline
from paraph.signer import described
from paraph.webhooks.outbox import signature
from tests.api.v1 import contract
from tests.reference.page import Element, colors, parse, snippet

STATIC = Path(paraph.reference.__file__).parent / "static" / "reference"
CSS = (STATIC / "reference.css").read_text()
CONTENT = json.loads(document())


@cache
def response() -> Any:
    """Ask for the page within a test, and not when tests are collected, which every process of a run does."""
    return Client().get("/docs/all")


@cache
def whole() -> Element:
    return parse(response().content.decode())


@cache
def pages() -> dict[str, Element]:
    """Return the pages of the topics by their addresses."""
    topics = [each.attributes["aria-labelledby"] for each in whole().all("section")][2:]
    addresses = ("/docs", *(f"/docs/{topic}" for topic in topics))
    return {address: parse(Client().get(address).content.decode()) for address in addresses}


def article_named(name: str) -> Element:
    [article] = [each for each in whole().all("article") if each.attributes["aria-labelledby"] == name]
    return article


def words(text: str) -> str:
    return " ".join(text.split())


def test_it_is_html_under_a_policy_and_wants_no_key() -> None:
    assert response().status_code == 200
    assert response()["Content-Type"] == "text/html; charset=utf-8"
    policy = response()["Content-Security-Policy"].split("; ")
    assert policy[0] == "default-src 'none'" and "connect-src 'self'" in policy
    assert set(" ".join(policy).split()) & {"'unsafe-inline'", "'unsafe-eval'", "*", "data:", "https:"} == set()


def test_whoever_has_it_is_told_so() -> None:
    assert Client().get("/docs/all", headers={"If-None-Match": response()["ETag"]}).status_code == 304
    assert Client().get("/docs", headers={"If-None-Match": response()["ETag"]}).status_code == 200
    assert Client().head("/docs").status_code == 200
    assert Client().get("/docs/").content == Client().get("/docs").content
    assert Client().get("/docs/errors/").content == Client().get("/docs/errors").content
    assert Client().get("/docs/start").headers["Location"] == "/docs"
    assert Client().post("/docs").status_code == 405
    assert Client().get("/docs/nothing").status_code == 404


def test_it_is_small() -> None:
    assert len(gzip.compress(response().content)) < 107_000
    for address in pages():
        assert len(gzip.compress(Client().get(address).content)) < 35_500, address


def test_nothing_is_loaded_from_elsewhere_and_no_script_stands_in_the_page() -> None:
    loaded = [each.attributes[name] for each in whole().all() for name in ("src", "srcset", "poster", "data", "action")
              if name in each.attributes]  # fmt: skip
    loaded += [each.attributes["href"] for each in whole().all("link")]
    assert loaded and all(address and re.match(r"/(?!/)", address) for address in loaded)
    assert not whole().all("style", "iframe", "object", "embed")
    scripts = whole().all("script")
    assert len(scripts) == 6 and all(each.attributes["src"] and not each.text for each in scripts)
    assert not any(name == "style" or name.startswith("on") for each in whole().all() for name in each.attributes)
    assert "url(" not in CSS and "@import" not in CSS
    for address in {str(each) for each in loaded}:
        assert Client().get(address).status_code == 200, address


def test_ids_are_unique_and_every_link_leads_somewhere() -> None:
    for root in (whole(), *pages().values()):
        ids = ids_of(root)
        assert len(ids) == len(set(ids))
        for link in root.all("a"):
            address, _, anchor = (link.attributes["href"] or "").partition("#")
            if address.endswith(".md"):
                assert Client().get(address).status_code == 200
            elif address.startswith("/docs"):
                there = whole() if address == "/docs/all" else pages()[address]
                assert not anchor or anchor in ids_of(there)
            elif not address:
                assert anchor in ids
            else:
                assert address in ("/api/v1/openapi.json", "/app/")
        for each in root.all():
            if "aria-labelledby" in each.attributes:
                assert each.attributes["aria-labelledby"] in ids


def ids_of(root: Element) -> list[str | None]:
    return [each.attributes["id"] for each in root.all() if "id" in each.attributes]


def test_headings_come_in_order_and_each_page_leads_back_to_the_dashboard() -> None:
    for root in (whole(), *pages().values()):
        levels = [int(each.tag[1]) for each in root.all("h1", "h2", "h3", "h4", "h5", "h6")]
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        assert "/app/" in [each.attributes["href"] for each in root.all("header")[0].all("a")]
    titles = [root.all("title")[0].text for root in pages().values()]
    assert len(set(titles)) == len(titles) and "Rate limits · Paraph API" in titles


def test_all_that_can_be_linked_to_is_on_the_page_of_one_topic() -> None:
    """This includes the code to paste, the fields and the refusals."""
    shell = {"content", "search-keys"}
    there = [each for root in pages().values() for each in ids_of(root) if each not in shell]
    assert sorted(there, key=str) == sorted((each for each in ids_of(whole()) if each not in shell), key=str)


def test_one_goes_through_the_pages_in_the_order_of_their_contents() -> None:
    listed = [each.attributes["href"] for each in pages()["/docs"].all("nav")[0].all("a")]
    order = [each for each in listed if each in pages()]
    assert order == list(pages())
    for place, (address, root) in enumerate(pages().items()):
        turns = {each.attributes["rel"]: each.attributes["href"] for each in root.all("a") if "rel" in each.attributes}
        around = {"prev": order[place - 1] if place else None, "next": [*order, None][place + 1]}
        assert turns == {way: there for way, there in around.items() if there}
        [current] = [each for each in root.all("nav")[0].all("a") if "aria-current" in each.attributes]
        assert current.attributes["href"] == address


def test_landmarks_and_labels() -> None:
    [html] = whole().all("html")
    assert html.attributes["lang"] == "en"
    assert len(whole().all("main")) == len(whole().all("nav")) == 1
    first = whole().all("body")[0].all("a")[0]
    assert first.attributes["href"] == "#content" and first.attributes["class"] == "skip"
    for each in whole().all("pre"):  # they scroll: a keyboard must reach them, a screen reader must name them
        assert (each.attributes["tabindex"], each.attributes["role"]) == ("0", "group") and each.attributes[
            "aria-label"
        ]
    for each in whole().all("img"):
        assert "alt" in each.attributes
    for each in whole().all("th"):
        assert each.attributes.get("scope") in ("row", "col")
    for each in whole().all("table"):
        assert each.all("caption")[0].text.strip()


@pytest.mark.parametrize(("method", "path", "operation"), contract.operations())
def test_every_operation_is_there_whole(method: str, path: str, operation: dict[str, Any]) -> None:
    name = operation["operationId"]
    article = article_named(name)
    shown = words(article.text)
    assert f"{method} {path}" in shown
    assert operation["summary"] in shown
    for parameter in operation.get("parameters", []):
        assert parameter["name"] in [each.text for each in article.all("code")]
    for status, response in operation["responses"].items():
        for example in response.get("content", {}).get("application/json", {}).get("examples", {}).values():
            value = example["value"]
            told = value["error"]["message"] if status >= "400" else json.dumps(value, ensure_ascii=False, indent=2)
            assert words(told) in shown
    codes = {each.attributes.get("id"): each.text for each in article.all("code")}
    assert codes[f"curl-{name}"] and codes[f"python-{name}"] and codes[f"typescript-{name}"]
    [form] = article.all("form")
    assert (form.attributes["data-method"], form.attributes["data-path"]) == (method, path)
    fields = {each.attributes.get("name") for each in form.all("input", "textarea")}
    asked = {"file"} if name == "uploadDocument" else {"body"} if "requestBody" in operation else set()
    assert fields == {"key"} | asked | {each["name"] for each in operation.get("parameters", [])}


@pytest.mark.parametrize("event", CONTENT["webhooks"])
def test_every_webhook_is_there(event: str) -> None:
    anchor = f"webhook-{event.replace('.', '-')}"
    article = article_named(anchor)
    [example] = CONTENT["webhooks"][event]["post"]["requestBody"]["content"]["application/json"]["examples"].values()
    assert words(json.dumps(example["value"], ensure_ascii=False, indent=2)) in words(article.text)
    assert all(table.all("tbody")[0].all("tr") for table in article.all("table"))
    assert bool(article.all("table")) != ("The fields are those of" in article.text)


def test_constants_are_shown_as_json() -> None:
    assert "Always True" not in whole().text and "Always true" in whole().text


def test_every_field_is_described() -> None:
    article = article_named("createSignatureRequest")
    rows = {words(row.all("th")[0].text).split(" ")[0]: words(row.all("td")[0].text)
            for row in article.all("table")[1].all("tr") if row.all("td")}  # fmt: skip
    assert "1 to 90" in rows["signature_request.validity_days"]
    assert "At most 10 entries" in rows["signature_request.documents[].signers[].stamps"]
    assert "80 to 400" in rows["signature_request.documents[].signers[].stamps[].value.width"]
    assert "One of email, sms" in rows["signature_request.signers[].otp_channel"]
    assert all(len(meaning) > 5 for meaning in rows.values())


@pytest.mark.parametrize(
    ("table", "codes"), [("errors", api_codes.CODES), ("signer-errors", described.CODES)], ids=["API", "signer"]
)
def test_every_error_is_in_its_table_with_cause_and_remedy(table: str, codes: dict[str, Any]) -> None:
    [part] = [each for each in whole().all("section", "article") if each.attributes.get("aria-labelledby") == table]
    rows = [row for row in part.all("tr") if row.all("td")]
    listed = [words(row.all("th")[0].text) for row in rows]
    assert sorted(listed) == sorted(f"{each.status} {code}" for code, each in codes.items())
    assert all(len(cell.text) > 10 for row in rows for cell in row.all("td"))


def test_every_ceiling_of_messages_is_named_with_its_number() -> None:
    section = response().content.decode().partition('id="message-limits"')[2].partition("</section>")[0]
    rows = dict(re.findall(r'<th scope="row">([^<]+)</th><td>([^<]+</td><td>[^<]+)</td>', section))
    asked, between = settings.PARAPH, "</td><td>"

    def of(limit: PerHourAndDay) -> str:
        return between.join(f"{number:,}" if number else "no limit" for number in limit)

    told = {
        "To one address or number in production, from your organization": of(asked.messages_per_destination),
        "To one address or number in production, from all organizations": of(asked.messages_per_destination_in_all),
        "To one address or number in the sandbox, from all organizations": of(asked.messages_per_destination),
        "Of your organization in the sandbox, Free": of(asked.messages_free_sandbox),
        "Of your organization in the sandbox, Pro": of(asked.messages_sandbox),
        "Of your organization in the sandbox, Enterprise": of(asked.messages_sandbox),
        "Of your organization in production, Free": of(asked.messages_pro),
        "Of your organization in production, Pro": of(asked.messages_pro),
        "Of your organization in production, Enterprise": of(asked.messages_enterprise),
        "SMS of your organization, in each environment": f"no limit{between}{asked.sms_per_organization_and_day:,}",
        "SMS to one calling code (+33, +1) from all organizations, in each environment": (
            f"no limit{between}{asked.sms_per_country_and_day:,}"
        ),
    }
    assert rows == told
    assert f"{asked.wrong_codes_per_destination} for one address" in words(section)
    assert f"{asked.wrong_codes_per_organization} of one organization" in words(section)
    assert "put_off_until" in section and "Retry-After" in section


def test_what_can_be_linked_to_is_one_thing() -> None:
    """Each field, and each refusal of a call, has an address."""
    assert {
        "createSignatureRequest-body-signature_request.signers.email",
        "listDocuments-parameter-created_after",
        "readSignatureRequest-answer-finalized",
        "uploadDocument-error-validation_mime_type",
        "error-rate_limited",
        "signer-error-invalid_otp",
    } <= set(ids_of(whole()))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_everything_can_be_read(scheme: int) -> None:
    """WCAG 2.2, 1.4.3, asks for a contrast of 4.5 to 1 for text."""
    color = colors(CSS)[scheme]
    color = colors(CSS)[0] | color
    pairs = [(text, ground) for text in ("text", "muted", "accent", "bad") for ground in ("page", "raised")]
    pairs += [("text", "code"), ("accent", "code"), ("get", "get-back"), ("post", "post-back"), ("bad", "bad-back")]
    on_panel = ("panel-text", "panel-muted", "key", "string", "number", "word", "comment")
    pairs += [(text, "panel") for text in on_panel] + [("panel-text", "field"), ("panel-muted", "field")]
    for text, ground in pairs:
        assert contrast(color[text], color[ground]) >= 4.5, (text, ground)


def test_descriptions_cannot_bring_markup() -> None:
    assert inline("<b> & `<i>`") == "&lt;b&gt; &amp; <code>&lt;i&gt;</code>"


def test_fields_are_shown_once_and_referred_to_elsewhere() -> None:
    """A call that answers or takes the same as another refers to it."""
    ids = ids_of(whole())
    articles = {each.attributes["aria-labelledby"]: each for each in whole().all("article")}
    for name, first in (("readTemplate", "createTemplate"), ("sendTemplate", "createSignatureRequest")):
        assert f"#{first}" in [each.attributes["href"] for each in articles[name].all("a")]
        assert f"{name}-answer-id" not in ids and f"{first}-answer-id" in ids
    assert "readSignatureRequest-answer-signers.email" in ids


BODY = '{"event":"signer.signed","signature_request":{"id":71},"signer":{"first_name":"Émile"}}'
SECRET = "5e" * 32
GIVEN = signature(SECRET, BODY.encode())


def test_webhooks_are_checked_by_what_the_page_has_in_python() -> None:
    names: dict[str, Any] = {}
    exec(snippet(whole(), "verify-python"), names)
    assert names["is_genuine"](BODY.encode(), GIVEN, SECRET)
    for body, given in ((BODY + " ", GIVEN), (BODY, ""), (BODY, GIVEN[:-1])):
        assert not names["is_genuine"](body.encode(), given, SECRET)


def test_webhooks_are_checked_by_what_the_page_has_for_the_client(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(snippet(whole(), "verify-client"), names)
    assert names["receive"](BODY.encode(), GIVEN, SECRET) == 204
    assert capsys.readouterr().out == "signer.signed 71\n"
    assert names["receive"](BODY.encode() + b" ", GIVEN, SECRET) == 401


ADDRESSES = ["/docs/start.md", "/docs/documents.md", "/docs/errors.md", "/docs/webhooks.md", "/docs/testing.md"]


def read(address: str) -> str:
    answer = Client().get(address)
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/markdown; charset=utf-8")
    return answer.content.decode()


def shown(element: Element) -> str:
    """Return the text without forms that try a call, links to the previous and next page, and captions of tables."""
    if element.attributes.get("class") in ("try", "turns") or element.tag == "caption":
        return ""
    return "".join(each if isinstance(each, str) else shown(each) for each in element.children)


def letters(text: str) -> str:
    return re.sub(r"[^\w]", "", re.sub(r"\]\([^)]*\)|^```[a-z]+$|^ *1\. ", "", text, flags=re.MULTILINE))


@pytest.mark.parametrize("address", ADDRESSES)
def test_it_has_the_words_of_the_page_and_its_code_as_it_is_pasted(address: str) -> None:
    page, text = pages()["/docs" if "start" in address else address.removesuffix(".md")], read(address)
    [main] = page.all("main")
    assert letters(text) == letters(shown(main))
    blocks = re.findall(r"^```[a-z]*\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
    codes = [code.text for code in page.all("code") if code.parent and code.parent.tag == "pre"]
    assert blocks == codes and (blocks or "errors" in address)


def test_commands_are_no_code_of_the_client() -> None:
    assert read("/docs/clients.md").count("```sh\n") == 2


def test_every_link_leads_to_markdown_or_elsewhere() -> None:
    for address in ADDRESSES:
        for link in re.findall(r"\]\((/docs[^)#]*)", read(address)):
            assert link.endswith(".md") and Client().get(link).status_code == 200, link


def test_the_list_names_every_topic() -> None:
    listed = re.findall(r"\]\(http[^)]*(/docs/[a-z-]+\.md)\)", read("/llms.txt"))
    topics = [each.attributes["aria-labelledby"] for each in whole().all("section")][1:]
    assert listed == [*(f"/docs/{topic}.md" for topic in topics), "/docs/all.md"]
    assert read("/llms.txt").startswith("# Paraph API\n\n> ")
    assert all(Client().get(address).status_code == 200 for address in listed)
    assert Client().get("/docs/nothing.md").status_code == 404


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<ul><li>a</li><li>b<ol><li>c</li></ol></li></ul>", "- a\n- b\n  1. c\n"),
        ("<table><thead><tr><th>a|b</th></tr></thead><tbody><tr><td>c</td></tr></tbody></table>",
         "| a\\|b |\n| --- |\n| c |\n"),
        ('<h2 id="x"><a href="#x">X</a></h2><p>See <a href="/docs/y#z"><code>z</code></a>.</p>',
         "## X\n\nSee [`z`](/docs/y.md#z).\n"),
        ("<pre><code>a &lt; b\n\n  c</code></pre>", "```\na < b\n\n  c\n```\n"),
        ('<p>a</p><details class="try"><form><input name="x"><p>no</p></form></details><p>b</p>', "a\n\nb\n"),
    ],
)  # fmt: skip
def test_what_becomes_of_each_element(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown
