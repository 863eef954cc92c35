"""The dashboard: members of one organization, and strangers, reach for what is another's."""

import csv
import io
import re
from pathlib import Path

import pytest

from tests.attacks.at_the_dashboard import PASSWORD, Person
from tests.attacks.conftest import Target
from tests.attacks.two_organizations import SCRIPT, World, target, world
from tests.dashboard.html_rules import broken_rules
from tests.dashboard.matrix import MATRIX, addresses

pytestmark = pytest.mark.thorough

__all__ = ["target", "world"]  # fixtures
MB = 1 << 20


def test_of_another_organization_nothing_is_found_and_nothing_changes(world: World) -> None:
    token = world.eve.token(f"/app/{world.other}/settings")
    before = _state(world)
    wrong = []
    for name, route in addresses().items():
        theirs = world.address(name, world.own)
        mixed = world.address(name, world.other)
        names_a_row = "_id>" in route.removeprefix("<int:organization_id>")
        for path in (theirs, *([mixed] if names_a_row else [])):
            read = world.eve.browser.get(path).status_code
            sent = world.eve.browser.post(path, data={"csrfmiddlewaretoken": token, "reason": "x"}).status_code
            refused = {404} if path == theirs else {404, 405, 422, *({303} & {MATRIX[name].read, MATRIX[name].sent})}
            wrong += [(name, path, read, sent)] if {read, sent} - refused else []
    assert not wrong, "\n".join(map(str, wrong))
    assert _state(world) == before


def test_no_form_is_taken_from_elsewhere(world: World) -> None:
    path = f"/app/{world.own}/settings"
    fields = {"name": "Taken", "contact_email": ""}
    token, foreign = world.ada.token(path), world.eve.token(f"/app/{world.other}/settings")
    attempts: list[tuple[dict[str, str], dict[str, str]]] = [
        ({}, {}),
        ({"csrfmiddlewaretoken": foreign}, {}),
        ({"csrfmiddlewaretoken": token}, {"Origin": "https://evil.example"}),
        ({"csrfmiddlewaretoken": token}, {"Origin": "null"}),
    ]
    for more, headers in attempts:
        assert world.ada.browser.post(path, data=fields | more, headers=headers).status_code == 403, headers
    assert world.ada.browser.post("/account/logout/", headers={"Origin": "https://evil.example"}).status_code == 403
    assert 'value="Taken"' not in world.ada.page(path)


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


def test_nobody_gives_more_than_they_have(world: World) -> None:
    members = f"/app/{world.own}/members"
    owner = {"email": "accomplice@ink.example", "role": "owner"}
    assert world.bob.send(members, owner, page="/account/").status_code == 403
    assert world.cleo.send(members, owner).status_code == 422
    bob = f"{members}/{world.ids['member_id']}"
    assert world.bob.send(bob, {"role": "owner"}, page="/account/").status_code == 403
    assert world.cleo.send(bob, {"role": "owner"}).status_code == 422
    more = {"is_staff": "1", "is_superuser": "1", "role": "owner", "email": "ada@ink.example", "organization": "1"}
    world.bob.sent("/account/", {"name": "Bob", "language": "", **more})
    assert "accomplice" not in (page := world.ada.page(members))
    assert re.findall(r"<td data-label=\"Role\">(\w+)</td>", page) == ["Owner", "Member", "Admin", "Member"]
    assert world.bob.browser.get(f"/app/{world.own}/applications").status_code == 403
    sent = {"name": "x", "plan": "enterprise", "suspended_at": "", "id": "1", "mails_copy_links": "on"}
    world.eve.sent(f"/app/{world.other}/settings", sent)
    assert "Pro" in world.eve.page(f"/app/{world.other}/plan")


def test_invitations_cannot_be_guessed(target: Target, world: World) -> None:
    [mail] = [each for each in target.inbox() if each["to"] == "new@ink.example"]
    found = re.search(r"/invitations/(\S+)", mail["text"])
    assert found
    secret = found[1]
    stranger = Person(target)
    turned = [secret[:n] + ("A" if secret[n] != "A" else "B") + secret[n + 1 :] for n in range(0, len(secret), 7)]
    for guess in (*turned, secret[:-1], secret + "A", secret.swapcase(), "%00", "1", "../" + secret):
        for answer in (stranger.browser.get(f"/invitations/{guess}"),):
            assert answer.status_code == 404 and "ink.example" not in answer.text, guess
    assert len(secret) >= 43  # 256 bits
    assert stranger.browser.get(f"/invitations/{secret}").status_code == 200
    assert world.eve.browser.get(f"/invitations/{secret}").status_code == 403  # another's account


def test_exports_hold_no_formula(world: World) -> None:
    world.ada.sent(f"/app/{world.own}/environment", {"to": "sandbox", "page": ""}, page=f"/app/{world.own}/requests")
    answer = world.ada.send(f"/app/{world.own}/requests/export", {}, page=f"/app/{world.own}/requests")
    assert answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/csv")
    cells = [cell for row in csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))) for cell in row]
    assert any("HYPERLINK" in cell for cell in cells)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_what_others_wrote_is_no_part_of_a_page(world: World) -> None:
    base, ids = f"/app/{world.own}", world.ids
    application = f"{base}/applications/{ids['application_id']}"
    for url in ("javascript:alert(1)", "data:text/html,x", f"https://hooks.example/{SCRIPT}"):
        answer = world.ada.send(f"{application}/settings", {"name": SCRIPT, "webhook_url": url}, page=application)
        assert answer.status_code in (303, 422) and broken_rules(answer.text) == []
    names = [*("", "requests", "documents", "drafts", "templates", "applications", "branding", "members")]
    pages = [f"{base}/{name}" for name in (*names, "activity", "plan", "settings", f"requests/{ids['request_id']}")]
    pages += [application, world.template, f"{base}/branding/{ids['profile_id']}", "/app/", "/account/"]
    pages += [f"{base}/documents/{ids['document_id']}"]
    pages += [f"{base}/drafts/{ids['draft_id']}/{step}" for step in ("documents", "signers", "places", "review")]
    for path in pages:
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


def _state(world: World) -> list[str]:
    """What is there for its owner."""
    base = f"/app/{world.own}"
    names = ("drafts", "templates", "applications", "branding", "members", "activity")
    return [each for name in names for each in re.findall(r'<tr data-id="(\d+)"', world.ada.page(f"{base}/{name}"))]


def _memory(target: Target) -> int:
    """The most that any of its processes ever had."""
    peaks = []
    for number, command in target.processes().items():
        if "paraph" in command:
            status = Path(f"/proc/{number}/status").read_text()
            peaks += [int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")]
    return max(peaks)
