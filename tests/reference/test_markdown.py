"""What ``/docs`` says, as Markdown: the same words and code, with links that lead on."""

import re

import pytest
from django.test import Client

from paraph.reference.markdown import markdown_of
from tests.reference.page import Element
from tests.reference.test_page import pages, whole

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
