"""The dashboard: sessions, passwords and files, and words of others that would be a part of its pages."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.at_the_dashboard import PASSWORD, Person, begin
from tests.attacks.conftest import Target
from tests.dashboard.html_rules import broken_rules
from tests.factories import pdf
from tests.scenarios.people import at, signer

pytestmark = pytest.mark.thorough

MB = 1 << 20
SCRIPT = "\"><script>alert(1)</script>'"
FORMULA = "=HYPERLINK(1)"


@dataclass
class World:
    """Ada owns an organization with something of everything, whose words are hostile; Bob is a member of it."""

    ada: Person
    bob: Person
    own: int
    template: str
    pages: list[str]
    """Of what has a page of its own."""


@pytest.fixture(scope="module")
def target(new_target: Callable[..., Target]) -> Target:
    """Of its own for each file: once passwords were guessed there, it lets nobody from here log in."""
    return new_target(PARAPH_MESSAGES_PER_DESTINATION="0")


@pytest.fixture(scope="module")
def world(target: Target) -> Iterator[World]:
    organization, application = target.commands(
        [
            ["organization", "create", SCRIPT, "--plan", "pro"],
            ["application", "create", "--organization", "{id}", "--environment", "sandbox", "--name", SCRIPT],
        ]
    )
    own = organization["id"]
    members = target.commands(
        [
            ["member", "create", "--organization", str(own), "--email", f"{name}@ink.example", "--role", role]
            for name, role in (("ada", "owner"), ("bob", "member"))
        ]
    )
    ada, bob = (begin(target, member["link"], member["email"]) for member in members)
    template, pages = _filled(target, ada, f"/app/{own}", application)
    yield World(ada, bob, own, template, pages)
    for person in (ada, bob):
        person.browser.close()


def _filled(target: Target, ada: Person, base: str, application: dict[str, Any]) -> tuple[str, list[str]]:
    """A request whose words are hostile, a draft, a template, an invitation and a branding profile."""
    backend = target.backend(application["api_key"])
    stamps = {"signer_ref": "ada", "stamps": [at()]}
    document = backend.upload(pdf(), f"{FORMULA}{SCRIPT.replace('/', '')}.pdf")
    documents = [{"id": document, "signers": [stamps]}]
    hostile = signer("ada", FORMULA, SCRIPT)
    request = backend.create(mode="parallel", validity_days=1, signers=[hostile], documents=documents)
    draft = ada.sent(f"{base}/drafts", {}).removesuffix("/documents")
    ada.sent(f"{draft}/documents", {"action": "upload"}, {"file": (f"{FORMULA}.pdf", pdf(), "application/pdf")})
    person = {"first_name": FORMULA, "last_name": SCRIPT, "email": "zoe@ink.example", "otp_channel": "email"}
    rows = {f"signer-0-{name}": value for name, value in person.items()}
    ada.sent(
        f"{draft}/signers",
        {"signer-TOTAL_FORMS": "1", "signer-INITIAL_FORMS": "0", "mode": "parallel", "action": "next", **rows},
    )
    page = ada.page(f"{draft}/places")
    who = _found(r'name="stamp-__prefix__-signer".*?value="(\d+)"', page)
    which = _found(r'data-document="(\d+)"', page)
    stamp = {"signer": who, "document": which, "page": 1, "x": 50, "y": 50, "width": 200, "height": 80}
    places = {f"stamp-0-{name}": value for name, value in stamp.items()}
    ada.sent(f"{draft}/places", {"stamp-TOTAL_FORMS": "1", "stamp-INITIAL_FORMS": "0", "action": "save", **places})
    template = ada.sent(f"{draft}/template", {"name": SCRIPT, "role-0": SCRIPT})
    colors = {"background_color": "#ffffff", "text_color": "#111111", "accent_color": "#1f4d8f"}
    profile = ada.sent(f"{base}/branding/new", {"name": SCRIPT, **colors})
    ada.sent(f"{base}/members", {"email": "new@ink.example", "role": "member"})
    return template, [
        f"{base}/requests/{request['id']}",
        f"{base}/applications/{application['id']}",
        f"{base}/documents/{document}",
        template,
        profile,
        *(f"{draft}/{step}" for step in ("documents", "signers", "places", "review")),
    ]


def _found(pattern: str, page: str) -> str:
    found = re.search(pattern, page, re.DOTALL)
    assert found, page
    return found[1]


def test_a_session_is_new_at_log_in_and_ends_with_the_password(target: Target, world: World) -> None:
    name, planted = next(each for each in world.bob.browser.cookies if each.endswith("session")), "planted1" * 4
    victim, thief = Person(target, world.bob.email), Person(target)
    victim.browser.cookies.set(name, planted, domain="127.0.0.1")
    assert victim.log_in().status_code == 303
    seen = []
    for session in (planted, victim.browser.cookies[name]):
        thief.browser.cookies.set(name, session)
        seen.append(thief.browser.get(f"/app/{world.own}/").status_code)
    assert seen == [302, 200]  # what was stolen after the log-in opens the pages, until
    world.bob.sent(
        "/account/password/change/", {"oldpassword": PASSWORD, "password1": f"{PASSWORD}!", "password2": f"{PASSWORD}!"}
    )
    assert thief.browser.get(f"/app/{world.own}/").status_code == 302
    assert world.bob.browser.get(f"/app/{world.own}/").status_code == 200


def test_what_others_wrote_is_no_part_of_a_page(world: World) -> None:
    base = f"/app/{world.own}"
    world.ada.sent(f"{base}/environment", {"to": "sandbox", "page": ""}, page=f"{base}/requests")
    [application] = [path for path in world.pages if "/applications/" in path]
    for url in ("javascript:alert(1)", "data:text/html,x", f"https://hooks.example/{SCRIPT}"):
        answer = world.ada.send(f"{application}/settings", {"name": SCRIPT, "webhook_url": url}, page=application)
        assert answer.status_code in (303, 422) and broken_rules(answer.text) == []
    names = [*("", "requests", "documents", "drafts", "templates", "applications", "branding", "members")]
    pages = [f"{base}/{name}" for name in (*names, "activity", "plan", "settings")] + ["/app/", "/account/"]
    for path in [*pages, *world.pages]:
        answer = world.ada.browser.get(path, follow_redirects=True)
        assert answer.status_code == 200, path
        assert broken_rules(answer.text) == [], path
        assert not re.search(r'href="(javascript|data):', answer.text), path
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"], path
        assert answer.headers["X-Frame-Options"] == "DENY" and "no-store" in answer.headers["Cache-Control"], path
    assert SCRIPT not in world.ada.page(f"{base}/requests") and "alert(1)" in world.ada.page(f"{base}/requests")


@pytest.mark.parametrize(
    "there",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "http:///evil.example",
        "javascript:alert(1)",
        "https:evil.example",
        "\thttps://evil.example",
    ],
)
def test_log_in_leads_nowhere_else(world: World, there: str) -> None:
    """Whoever is logged in is sent on at once."""
    answer = world.ada.browser.get("/account/login/", params={"next": there}, headers={"Host": "evil.example"})
    assert answer.status_code == 302 and re.match(r"/(?![/\\])", answer.headers["Location"])
    assert world.ada.browser.get(f"/account/login/?next=/app/{world.own}/plan").headers["Location"].endswith("/plan")


def test_a_hostile_csv_gets_a_sentence_and_no_memory(target: Target, world: World) -> None:
    row = b"Ada,Byron,ada@example.com\n"
    header = b"First name,Last name,E-mail\n"
    files = [
        header + row * (10 * MB // len(row)),
        header + b"a,b,c\n" * 100_000,
        header + b"\0" * 1000,
        header + b'"' + b"x" * 900_000,
        b"," * 900_000,
        b"\xff\xfe" + b"\xd8" * 99_999,
        b"PK\x03\x04" + bytes(range(256)) * 100,
        b"",
    ]
    before = _memory(target)
    for content in files:
        answer = world.ada.send(f"{world.template}/bulk", {}, {"file": ("=1.csv", content, "text/csv")})
        assert answer.status_code == 422 and 'role="alert"' in answer.text, content[:40]
    assert _memory(target) - before < 64 * MB


def test_passwords_cannot_be_guessed(target: Target, world: World) -> None:
    """The last test of all: it uses up the attempts of this address."""
    known, unknown = Person(target, world.ada.email), Person(target, "nobody@ink.example")
    for _ in range(5):
        told = {re.sub(r'value="[^"]*"', "", _wrong(person)) for person in (known, unknown)}
        assert len(told) == 1  # whether there is such an account
    for person in (known, unknown):
        assert "attempts" in _wrong(person, PASSWORD)
    assert known.browser.get(f"/app/{world.own}/").status_code == 302
    assert world.ada.browser.get(f"/app/{world.own}/").status_code == 200  # nobody is locked out who is in


def _wrong(person: Person, password: str = "another phrase") -> str:
    answer = person.log_in(password)
    assert answer.status_code in (422, 429)
    return answer.text


def _memory(target: Target) -> int:
    """The most that any of its processes ever had."""
    peaks = []
    for number, command in target.processes().items():
        if "paraph" in command:
            status = Path(f"/proc/{number}/status").read_text()
            peaks += [int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")]
    return max(peaks)
