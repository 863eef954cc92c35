"""What POST /signature_requests refuses (rule 4.5), each with the sentence that says why."""

from collections.abc import Callable
from functools import reduce
from operator import getitem
from typing import Any

import pytest

from tests.api.v1.api_clients import KIM, ApiClient, api_client, payload, rectangle, refused, stored_document, tag
from tests.pdf.pdf_factory import paper, text

Change = Callable[[dict[str, Any]], None]


def stamps(content: dict[str, Any], *of_ada: Any) -> dict[str, Any]:
    content["documents"][0]["signers"][0]["stamps"] = list(of_ada)
    return content


ABSENT = object()


def within(*place: str | int) -> Callable[..., Change]:
    """Return what makes changes that set a field at that place, or take it out."""

    def set_field(name: str, value: Any = ABSENT) -> Change:
        def change(content: Any) -> None:
            holder = reduce(getitem, place, content)
            holder[name] = value
            if value is ABSENT:
                del holder[name]

        return change

    return set_field


set_root, set_signer, set_document = within(), within("signers", 1), within("documents", 0)
of_ada, of_grace = within("documents", 0, "signers", 0), within("documents", 0, "signers", 1)


def set_stamp(value: Any) -> Change:
    return of_grace("stamps", [value])


STAMP = "documents[0].signers[1].stamps[0]"
TOO_LONG = "it must have at most 200 characters."
UNPRINTABLE = "it must not contain control characters or lone surrogates."
NO_IDS: list[Any] = ["1", None, 1.5, True, [], 2**63, -1, 0]
KEY = "must have 1 to 40 characters"
NO_HTTPS = (
    "http://example.com/ http://localhost.example.com/ http://localhost@example.com/ javascript:alert(1) https://"
)
UNMAILED = "reminders: send_email must be true where signers are to be reminded."
OWN_DATA: list[tuple[str, Any, str]] = [
    ("external_id", "", ": it must not be empty."),
    ("external_id", "e" * 201, f": {TOO_LONG}"),
    ("external_id", 4711, ": it must be a string."),
    ("metadata", "x", ": it must be an object."),
    ("metadata", {str(each): "" for each in range(51)}, ": it must have at most 50 keys, not 51."),
    ("metadata", {"a b": "x"}, f": the key “a b” {KEY} from A-Z, a-z, 0-9, "),
    *[("metadata", {key: "x"}, f": the key “{key}” {KEY}") for key in ("", "k" * 41)],
    ("metadata", {"\ud800": "x"}, f": the key “?” {KEY}"),
    ("metadata", {"a\n": "x"}, f": the key “a\n” {KEY}"),
    *[("metadata", {"a": value}, ": the value of “a” must be a string.") for value in (1, None)],
    ("metadata", {"a": "x" * 501}, ": the value of “a” must have at most 500 characters, not 501."),
    ("metadata", {"a": "\0"}, ": the value of “a” must not contain control characters or lone surrogates."),
    ("metadata", {"a": 1, "b": "\ud800"},
     ": the value of “a” must be a string. the value of “b” must not contain control characters"),
    ("reminders", {"every_days": 0, "at_most": 1}, f".every_days: it must be from 1 to 30, not 0. {UNMAILED}"),
    ("reminders", {"every_days": 31, "at_most": 1}, f".every_days: it must be from 1 to 30, not 31. {UNMAILED}"),
    ("reminders", {"every_days": 1, "at_most": 11}, f".at_most: it must be from 1 to 10, not 11. {UNMAILED}"),
    ("reminders", {"every_days": 1.5, "at_most": 1}, f".every_days: it must be an integer. {UNMAILED}"),
    ("reminders", {"every_days": 1}, f".at_most: it is required. {UNMAILED}"),
    ("reminders", [], ": it must be an object."),
    ("reminders", {"every_days": 3, "at_most": 5}, UNMAILED.removeprefix("reminders")),
    *[("redirect_url", address, f": “{address}” is not an https address.") for address in NO_HTTPS.split()],
    ("redirect_url", "http://localhost:99999/", ": “http://localhost:99999/” is not the address of a page."),
    ("redirect_url", "https://ada@example.com/", ": “https://ada@example.com/” cannot be called: it needs a host, "),
    ("redirect_url", "https://example.com/" + "x" * 2000, ": it must have at most 2000 characters."),
    ("redirect_url", 7, ": it must be a string."),
    ("decline_allowed", "yes", ": it must be a JSON boolean, true or false."),
    ("copies", {}, ": it must be an array."),
    ("copies", [KIM, {**KIM, "email": "kim"}], "[1].email: “kim” is not an e-mail address."),
    ("copies", [{"email": "kim@example.com"}], "[0].first_name: it is required. copies[0].last_name: it is required."),
]  # fmt: skip
CASES: list[tuple[Change, str]] = [
    *[(set_root(name, value), f"{name}{told}") for name, value, told in OWN_DATA],
    (set_root("mode"), "mode: it is required."),
    (set_root("mode", "both"), "mode: it must be one of sequential, parallel."),
    (set_root("mode", ["parallel"]), "mode: it must be one of sequential, parallel."),
    (set_root("validity_days"), "validity_days: it is required."),
    (set_root("validity_days", 0), "validity_days: it must be from 1 to 90, not 0."),
    (set_root("validity_days", 91), "validity_days: it must be from 1 to 90, not 91."),
    (set_root("validity_days", 10**4000), "validity_days: it must be from 1 to 90, not 10^40…."),
    *[(set_root("validity_days", value), "validity_days: it must be an integer.") for value in ("7", 7.5, True, None)],
    *[(set_root(name, value), f"{name}: it must be a JSON boolean, true or false.")
      for name in ("send_email", "identity_declaration_accepted", "initials_required", "notify_signers_on_completion")
      for value in ("true", 1)],
    *[(set_root("callback_url", address), f"callback_url: “{address}” is not an https address.")
      for address in ("http://example.com", "example.com", "https://", "https:///path")],
    *[(set_root("callback_url", f"https://{rest}"), f"callback_url: “https://{rest}” cannot be called: it needs a "
       "host, no user name, and port 80, 443 or one from 1024.")
      for rest in ("a b.com", "u:p@x.com/", "x.com:22/", "a%20b/", "[::1/")],
    (set_root("callback_url", "https://x.com/\n"), f"callback_url: {UNPRINTABLE}"),
    (set_root("callback_url", 3), "callback_url: it must be a string."),
    (set_root("callback_url", "https://x.com/" + "a" * 2000), "callback_url: it must have at most 2000 characters."),
    (set_root("branding_profile_id", "3"), "branding_profile_id: it must be an integer."),
    (set_root("branding_profile_id", 0), "branding_profile_id: it must be a positive identifier, not 0."),
    (set_root("branding_profile_id", 999), "branding_profile_id: 999 is not a branding profile of your organization."),
    (set_root("signers"), "signers: it is required."),
    (set_root("signers", {}), "signers: it must be an array."),
    (set_root("signers", []), "signers: it must have at least one entry."),
    (set_root("signers", [3]), "signers[0]: it must be an object."),
    (set_root("documents"), "documents: it is required."),
    (set_root("documents", []), "documents: it must have at least one entry."),
    (set_root("documents", ["x"]), "documents[0]: it must be an object."),
    *[(set_document("id", value), "documents[0].id: it must be") for value in NO_IDS],
    *[(set_document("id", value), f"documents[0].id: there is no document {value} in this environment.")
      for value in (999, 2**62, 2**63 - 1)],
    (lambda content: content["documents"].append(content["documents"][0]),
     "documents[1].id: document D is listed more than once."),
    (set_document("signers", []), "documents[0].signers: it must have at least one entry."),
    (lambda content: content["documents"][0]["signers"].pop(), "signers[1]: signer “grace” signs no document."),
    *[(set_signer(name), f"signers[1].{name}: it is required.")
      for name in ("ref", "first_name", "last_name", "email", "order")],
    *[(set_signer(name, ""), f"signers[1].{name}: it must not be empty.") for name in ("ref", "first_name", "email")],
    (set_signer("last_name", " \u2003"), "signers[1].last_name: it must not be empty."),
    *[(set_signer("first_name", value), "signers[1].first_name: it must be a string.") for value in (7, None)],
    (set_signer("first_name", "x" * 201), f"signers[1].first_name: {TOO_LONG}"),
    (set_signer("first_name", "a\0b"), f"signers[1].first_name: {UNPRINTABLE}"),
    (set_signer("last_name", "a\ud800b"), f"signers[1].last_name: {UNPRINTABLE}"),
    (set_signer("last_name", "a\r\nBcc: x"), f"signers[1].last_name: {UNPRINTABLE}"),
    (set_signer("ref", 1), "signers[1].ref: it must be a string."),
    (set_signer("ref", "a\ud800b"), f"signers[1].ref: {UNPRINTABLE}"),
    (set_signer("ref", "ada"),
     "signers[0].ref: “ada” is the ref of another signer too. signers[1].ref: “ada” is the ref of another signer too. "
     "documents[0].signers[1].signer_ref: “grace” on document D is the ref of no signer of the request."),
    (set_signer("email", "grace"), "signers[1].email: “grace” is not an e-mail address."),
    (set_signer("email", "a@b@c.com"), "signers[1].email: “a@b@c.com” is not an e-mail address."),
    *[
        (set_signer("email", address), f"signers[1].email: “{address}” is not an e-mail address")
        for address in (
            "a@localhost", "a@LOCALHOST", "a@[127.0.0.1]", "a@[::1]", "a@[IPv6:::1]", "a@10.0.0.11", "a@mail.localhost",
            "a@mail.\u24dbocalhost", f"a@{'ü' * 60}.example",
        )
    ],
    *[
        (set_signer("email", f"a{control}@example.com"), "signers[1].email: it must not contain control characters")
        for control in ("\x00", "\r\nBcc: x", "\x7f", "\u2028")
    ],
    (set_signer("email", '"a\\b"@example.com'), "signers[1].email: “\"a\\b\"@example.com” is not an e-mail address."),
    (set_signer("email", "a@intranet"), "signers[1].email: “a@intranet” is not an e-mail address"),
    (set_signer("email", "a@localhost"), "signers[1].email: “a@localhost” is not an e-mail address at a full "
                                         "domain name, such as example.com."),
    (set_signer("email", "x" * 321), "signers[1].email: it must have at most 320 characters."),
    *[
        (set_signer("phone", phone), f"signers[1].phone: “{phone}” is not a phone number in E.164 format, such as "
                                     "+33612345678.")
        for phone in ("0612345678", "+33612345678 ",
                       "+33 612345678", "+336", "+0612345678", "33612345678", "+٣٣٦١٢٣٤٥٦٧٨")
    ],
    (lambda content: content["signers"][1].update(phone="+33899123456", otp_channel="sms"),
     "signers[1].phone: “+33899123456” is not a number to which codes are sent by SMS"),
    (set_signer("phone", 33612345678), "signers[1].phone: it must be a string."),
    (set_signer("otp_channel", "fax"), "signers[1].otp_channel: it must be one of email, sms."),
    *[(set_signer("language", value), "signers[1].language: it must be one of en, ar, ")
      for value in ("xx", "pt-BR", 1)],
    (set_signer("otp_channel", "sms"), "signers[1].phone: it is required, as otp_channel is sms."),
    (set_signer("order", None), "signers[1].order: it is required."),
    (set_signer("order", 0), "signers[1].order: it must be from 1 to 2147483647, not 0."),
    (set_signer("order", "2"), "signers[1].order: it must be an integer."),
    (set_signer("order", 1), "signers[0].order: 1 is the order of another signer too. "
                             "signers[1].order: 1 is the order of another signer too."),
    (set_stamp(3), f"{STAMP}: it must be an object."),
    (set_stamp({"value": {"tag": "x"}}), f"{STAMP}.type: it is required."),
    (set_stamp({"type": "box", "value": {}}), f"{STAMP}.type: it must be one of magic_field, coordinates."),
    (set_stamp({"type": "magic_field"}), f"{STAMP}.value: it is required."),
    (set_stamp({"type": "magic_field", "value": "x"}), f"{STAMP}.value: it must be an object."),
    (set_stamp({"type": "magic_field", "value": {}}), f"{STAMP}.value.tag: it is required."),
    (set_stamp(tag("")), f"{STAMP}.value.tag: it must not be empty."),
    (set_stamp(tag("x\0")), f"{STAMP}.value.tag: {UNPRINTABLE}"),
    (set_stamp(rectangle(0)), f"{STAMP}.value.page_number: it must be"),
    *[(set_stamp(rectangle(page)), f"{STAMP}.value.page_number: it must be an integer.") for page in ("1", True)],
    *[(set_stamp(rectangle(1, x)), f"{STAMP}.value.x: it must be a number of points.") for x in ("5", True, 1e300)],
    (set_stamp(rectangle(1, 0, None)), f"{STAMP}.value.y: it must be a number of points."),
    (set_stamp({"type": "coordinates", "value": {"page_number": 1}}),
     f"{STAMP}.value.x: it is required. {STAMP}.value.y: it is required."),
    (set_stamp(rectangle(width=79.9)), f"{STAMP}.value.width: it must be from 80 to 400, not 79.9."),
    (set_stamp(rectangle(width=401)), f"{STAMP}.value.width: it must be from 80 to 400, not 401."),
    (set_stamp(rectangle(height=29)), f"{STAMP}.value.height: it must be from 30 to 160, not 29."),
    (set_stamp(rectangle(height=161)), f"{STAMP}.value.height: it must be from 30 to 160, not 161."),
    (set_stamp(rectangle(width="200")), f"{STAMP}.value.width: it must be a number of points."),
    (set_stamp({"type": "magic_field", "value": {"tag": "{{grace}}", "width": 79.9}}),
     f"{STAMP}.value.width: it must be from 80 to 400, not 79.9."),
    (set_stamp({"type": "magic_field", "value": {"tag": "{{grace}}", "height": 29}}),
     f"{STAMP}.value.height: it must be from 30 to 160, not 29."),
]  # fmt: skip


ADA = "documents[0].signers[0]"
HOW_MANY = f"{ADA}.stamps: signer “ada” must have from 1 to 10 stamps on document D, not "
ALIKE = ["{{ ada }}", "{{a da}}", "{{\u200bada}}", " {{ada}} ", "\uff5b\uff5bada\uff5d\uff5d", "{{\u00a0ada}}"]
OVERFLOWING: list[tuple[float, float, dict[str, float]]] = [
    (396, 0, {}), (0, 763, {}), (-1, 0, {}), (0, -0.5, {}), (200, 0, {"width": 400}), (0, 700, {"height": 160}),
    (-0.01, 0, {}), (0, -0.01, {}), (395.01, 0, {}), (0, 762.01, {}),  # by a hundredth of a point on each side
    (395, 0, {"width": 200.01}), (0, 762, {"height": 80.01}),
]  # fmt: skip


NO_ARRAY: list[Any] = [None, {}, "x", 3]
NO_BOOLEAN: list[Any] = ["true", "false", None, 1, 0, [], {}]


def stamped(*given: Any) -> Change:
    return of_ada("stamps", list(given))


def listed(ref: str) -> Change:
    return lambda content: content["documents"][0]["signers"].append({"signer_ref": ref, "stamps": [rectangle()]})


def field_at(words: str) -> Change:
    return of_ada("fields", [{"name": "a", "type": "text", "placement": tag(words)}])


PLACEMENTS: list[tuple[Change, str]] = [
    *[(stamped(*[rectangle()] * count), f"{HOW_MANY}{count}.") for count in (0, 11, 5000)],
    (stamped(tag("{{ada}}"), *[tag(f"x{n}", optional=True) for n in range(10)]), f"{HOW_MANY}11."),
    *[(of_ada("stamps", value), f"{HOW_MANY}0.") for value in (*NO_ARRAY, ABSENT)],
    (listed("ada"), "documents[0].signers[2].signer_ref: signer “ada” is listed twice on document D; one entry takes "
                    "all their stamps."),
    *[(stamped(tag("{{ada}}"), tag(other, optional=optional)),
       f"{ADA}.stamps: signer “ada” uses the tag “{{{{ada}}}}” more than once on document D.")
      for other, optional in [("{{ada}}", False), ("{{ada}}", True), *[(other, False) for other in ALIKE]]],
    *[(field_at(other), f"{ADA}.fields[0].placement.value.tag: signer “ada” uses the tag “{other}” more than once on "
                        "document D.") for other in ALIKE],
    *[(stamped(tag(words)), f"{ADA}.stamps[0]: the tag “{words}” of signer “ada” is not in document D.")
      for words in ("{{bob}}", "{{ADA}}", "Ada and Grace}}")],
    (stamped(rectangle(4)), f"{ADA}.stamps[0]: page 4 of signer “ada” does not exist: document D has 3 pages."),
    *[(stamped(rectangle(1, x, y, **size) | {"optional": optional}),
       f"{ADA}.stamps[0]: the stamp of signer “ada” at x={x:g}, y={y:g}, {size.get('width', 200)} by "
       f"{size.get('height', 80)} points, does not fit on page 1 of document D, 595 by 842 points.")
      for x, y, size in OVERFLOWING for optional in (False, True)],
    (stamped(tag("x1", optional=True), tag("x2", optional=True)),
     f"{ADA}: none of the optional stamps of signer “ada” was found on document D."),
    *[(stamped(tag("{{ada}}", optional=value)), f"{ADA}.stamps[0].optional: it must be a JSON boolean, true or false.")
      for value in NO_BOOLEAN],
    (listed("bob"), "documents[0].signers[2].signer_ref: “bob” on document D is the ref of no signer of the request."),
]  # fmt: skip
"""The cases of rule 4.5 one by one; each is the whole message."""


@pytest.mark.parametrize("cases", [CASES[::2], CASES[1::2]], ids=["one half", "the other"])  # at 120 calls a minute
def test_every_field(owner: ApiClient, document: int, cases: list[tuple[Change, str]]) -> None:
    for change, message in cases:
        content = payload(document)
        change(content)
        wanted, said = message.replace("document D ", f"document {document} "), refused(owner, content)
        assert said == wanted if wanted.endswith(".") and ": " in wanted else wanted in said, (wanted, said)


def test_every_case_of_placements(owner: ApiClient, document: int) -> None:
    for change, message in PLACEMENTS:
        content = payload(document)
        change(content)
        assert refused(owner, content) == message.replace("document D", f"document {document}")


def test_a_pending_document(owner: ApiClient) -> None:
    document = stored_document(owner, status="pending").pk
    assert refused(owner, payload(document)) == f"documents[0].id: document {document} is not ready yet."


@pytest.mark.parametrize(("plan", "signers", "documents"), [("free", 5, 3), ("pro", 25, 20), ("enterprise", 100, 50)])
def test_limits_of_the_plans(db: None, plan: str, signers: int, documents: int) -> None:
    scope = api_client(plan)
    content = stamps(payload(stored_document(scope).pk), rectangle(1))
    content["signers"] *= 100
    content["documents"] *= 100
    message = refused(scope, content)
    assert f"signers: your plan allows at most {signers} entries per request, not 200." in message
    assert f"documents: your plan allows at most {documents} entries per request, not 100." in message


def test_nothing_is_said_of_what_lies_beyond_a_limit(db: None) -> None:
    """A signer beyond the limit may still be named, and a document beyond the limit may name one."""
    scope = api_client("free")
    ids = [stored_document(scope).pk for _ in range(4)]
    content = payload(ids[0])
    one = content["signers"][0]
    content["signers"] = [{**one, "ref": f"s{number}", "order": number} for number in range(1, 7)]
    content["documents"] = [
        {"id": each, "signers": [{"signer_ref": ref, "stamps": [rectangle(1)]}]}
        for each, ref in zip(ids, ["s6", "s1", "s2", "s3"], strict=True)
    ]
    assert refused(scope, content) == (
        "signers: your plan allows at most 5 entries per request, not 6. "
        "documents: your plan allows at most 3 entries per request, not 4."
    )


def test_mails_want_a_declaration(owner: ApiClient, document: int) -> None:
    for declaration in ({}, {"identity_declaration_accepted": False}, {"identity_declaration_accepted": None}):
        message = refused(owner, payload(document, send_email=True, **declaration), "identity_declaration_required")
        assert message == "identity_declaration_accepted: it must be true when send_email is true."


def test_in_production_localhost_is_no_place_to_go_on(db: None) -> None:
    live = api_client(environment="production")
    message = refused(live, payload(live.document(), redirect_url="http://LOCALHOST/"))
    assert message == "redirect_url: it must be an https address in production."


def test_of_a_flood_of_problems_the_first_are_named(owner: ApiClient, document: int, content: dict[str, Any]) -> None:
    content["documents"] = [{"id": document, "signers": [{"signer_ref": "bob", "stamps": {}}] * 25}] * 4
    message = refused(owner, content)
    assert message.count("must have from 1 to 10 stamps") == 50
    assert "documents[1].signers[24].stamps: " in message and "documents[2]" not in message
    assert message.endswith(" There may be more; checking stopped here.")


def test_assignments_are_counted_and_those_beyond_the_limit_not_looked_at(
    owner: ApiClient, content: dict[str, Any]
) -> None:
    assigned = content["documents"][0]["signers"]
    content["documents"][0]["signers"] = [assigned[0], *[{"signer_ref": "bob", "stamps": {}}] * 999]
    message = refused(owner, content)
    assert "documents[0].signers: your plan allows at most 25 entries per request, not 1000." in message
    assert "documents[0].signers[24].stamps: " in message and "signers[25]" not in message
    assert "signs no document" not in message  # assignments that were not read may name Grace


def test_a_refusal_with_a_code_of_its_own_comes_before_a_flood(db: None) -> None:
    free = api_client("free")
    content = payload(free.document(), initials_required=True)
    content["documents"] = [{"id": 0, "signers": [{"stamps": [{}] * 10}] * 5}] * 3
    assert "There may be more" in refused(free, content, "initials_not_available_on_plan", 403)


def test_arrays_and_objects_are_counted_before_they_are_built(owner: ApiClient) -> None:
    body = b'{"signature_request": [%b]}' % b",".join([b"[]"] * 120_000)
    response = owner.send("POST", "/signature_requests", body)
    assert response.status_code == 422
    assert response.json()["error"]["message"] == "The body contains more than 120000 arrays and objects."


SMALL = {"type": "magic_field", "value": {"tag": "here", "width": 90, "height": 60.5}}


def test_a_tag_where_no_stamp_fits(owner: ApiClient) -> None:
    """At the foot of a page, or on one that is too small."""
    first, second = text("here", 250, 60), text("nothing", 50, 500)
    cases: list[tuple[bytes, Any, str]] = [
        (paper(text("here", 50, 40), size=(150, 70)), tag("here"), "200 by 80|1|150 by 70"),
        (paper(second, first), tag("here"), "200 by 80|2|595 by 842"),
        (paper(second, first), tag("here", optional=True), "200 by 80|2|595 by 842"),
        (paper(first, second), SMALL, "90 by 60.5|1|595 by 842"),
    ]
    for file, stamp, sizes in cases:
        document = owner.upload(file).json()["id"]
        own, page, whole = sizes.split("|")
        assert (
            f"{ADA}.stamps[0]: the stamp of signer “ada” at the tag “here”, {own} points, does not fit on page {page} "
            f"of document {document}, {whole} points."
        ) in refused(owner, stamps(payload(document), stamp))
