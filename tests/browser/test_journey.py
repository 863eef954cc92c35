"""The whole journey, wherever and however somebody signs."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.browser.contract import contract
from tests.browser.journey import Journey
from tests.browser.world import SIDEWAYS, World, five_wrong, until, wrong_for
from tests.pdf.pdf_factory import paper, text
from tests.scenarios.people import at, code_for, sign

PHONE = {"viewport": {"width": 375, "height": 740}, "has_touch": True, "is_mobile": True}
NARROW = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}
SCREENS: dict[str, dict[str, Any]] = {
    "phone": PHONE,
    "desk": {"viewport": {"width": 1280, "height": 900}},
    "narrow": {"viewport": {"width": 320, "height": 640}},
    "landscape": {"viewport": {"width": 740, "height": 360}, "has_touch": True, "is_mobile": True},
    "right to left": PHONE,
}
_USUAL = ("phone",)
# Buttons, links outside of sentences, and fields that are there to be hit, with the smaller side of each.
_TARGETS = """() => [...document.querySelectorAll("a, button, input, summary, textarea")]
    .filter((hit) => hit.checkVisibility({ visibilityProperty: true }) && hit.type !== "hidden")
    .filter((hit) => !hit.closest(".paper, .skip"))
    .map((hit) => [hit.outerHTML.slice(0, 90), hit.closest("label") || hit])
    .map(([name, hit]) => [name, hit.getBoundingClientRect()])
    .filter(([, box]) => Math.min(box.width, box.height) < 24)
    .map(([name]) => name)"""

_IN_SIGHT = """async (place) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    const box = place.getBoundingClientRect();
    const over = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return Boolean(over && over.closest("a[data-place]") === place);
}"""


def fits(page: Any) -> None:
    assert page.evaluate(SIDEWAYS) == 0
    assert page.evaluate(_TARGETS) == []


@pytest.mark.parametrize(
    "screen", [name if name in _USUAL else pytest.param(name, marks=pytest.mark.thorough) for name in SCREENS]
)
def test_on_every_screen(visit: Callable[..., Any], world: World, screen: str) -> None:
    """The signature is the typed name at a desk and drawn elsewhere; then the signer gets the signed copy. Nobody else
    hears of it: nothing is loaded from elsewhere, no cookie is set and nothing is stored."""
    language, direction = ("ar", "rtl") if screen == "right to left" else ("en", "ltr")
    page = visit(world.asked(initials_required=True, language=language)[0], **SCREENS[screen])
    assert page.locator("html").get_attribute("dir") == direction
    journey = Journey(page)
    fits(page)
    page.locator("[data-next]").click()
    assert page.locator("[data-place='1']").evaluate(_IN_SIGHT)
    journey.to_signature()
    if screen != "desk":
        journey.draw("signature")
        journey.draw("initials")
    fits(page)
    journey.to_confirm()
    fits(page)
    journey.confirm()
    page.locator("[data-progress=ready]").wait_for()
    fits(page)
    with page.expect_download() as download:
        page.locator(".copies a").first.click()
    assert download.value.path().read_bytes().startswith(b"%PDF")
    loaded = page.evaluate("performance.getEntriesByType('resource').map((each) => each.name)")
    ours = (f"{world.base_url}/", "data:image/svg+xml,")
    assert len(loaded) > 5 and [address for address in loaded if not address.startswith(ours)] == []
    assert page.context.storage_state(indexed_db=True) == {"cookies": [], "origins": []}
    assert page.evaluate("sessionStorage.length") == 0


def test_the_words_and_hooks_that_stay(visit: Callable[..., Any], world: World) -> None:
    page = visit(world.asked(initials_required=True, signers=2)[0])
    document = world.document()
    for name in ("Download PDF", "Read as text", "Ask Harbour Homes"):
        assert page.get_by_role("link", name=name).is_visible()
    for name in ("Zoom in", "Zoom out"):
        assert page.get_by_role("button", name=name).is_visible()
    assert page.get_by_role("link", name=re.compile("^Next signature")).is_visible()
    assert page.locator(f"[data-page='{document}/3'] a[data-place='1']").count() == 1
    page.get_by_role("link", name="Sign", exact=True).click()
    assert page.url.endswith("#sign")
    initials = page.get_by_role("group", name="Your initials")
    initials.get_by_role("radio", name="Use my name").wait_for()
    page.get_by_role("group", name="Your signature").get_by_role("radio", name="Draw it").check()
    assert page.locator("[data-pad=signature] canvas").is_visible()
    for name in ("Undo", "Clear", "Full screen"):
        assert page.get_by_role("button", name=name, exact=True).is_visible()
    page.get_by_role("group", name="Your signature").get_by_role("radio", name="Use my name").check()
    page.get_by_role("link", name="Continue").click()
    assert page.url.endswith("#confirm")
    page.get_by_role("button", name="Send code", exact=True).click()
    page.get_by_role("button", name="Send a new code").wait_for()
    page.get_by_role("checkbox", name=re.compile("^I have read")).check()
    page.get_by_role("textbox", name="6-digit code").fill(Journey(page).shown_code())
    page.get_by_role("button", name=re.compile("^Sign .*documents?$")).click()
    page.locator("body[data-state=signed] [data-progress=waiting]").wait_for()
    page.locator("[data-progress]").get_by_text("1 person still has to sign").wait_for()


def test_who_has_signed_sees_at_once_that_it_was_withdrawn(visit: Callable[..., Any], world: World) -> None:
    page = visit(world.asked(signers=2)[0])
    Journey(page).whole()
    page.locator("body[data-state=signed] [data-progress=waiting]").wait_for()
    world.withdraw(world.newest, "The price has changed.")
    page.locator("body[data-state=already_signed] [data-progress=expired]").wait_for()
    said = page.locator("[data-progress]").inner_text()
    assert said.strip() == "Harbour Homes withdrew this request. Signatures given so far won’t count."


def test_going_on_is_offered_first_and_nothing_moves(visit: Callable[..., Any], world: World) -> None:
    [url, *_] = world.asked(redirect_url="https://shop.example/done?a=1")
    page = visit(url)
    Journey(page).whole()
    page.locator("[data-progress=ready]").wait_for()
    link = page.locator("#done").locator("a:visible, button:visible").first
    assert link.inner_text() == "Continue to shop.example"
    assert re.fullmatch(
        r"https://shop\.example/done\?a=1&signature_request_id=\d+&signer_id=\d+", link.get_attribute("href") or ""
    )
    assert page.url.startswith(url) and page.locator(".copies a").first.is_visible()


def test_by_keyboard_alone(visit: Callable[..., Any], world: World) -> None:
    """The bar never covers what has the focus."""
    page = visit(world.asked(initials_required=True)[0])
    keyboard = page.keyboard

    def go_to(selector: str, most: int = 60) -> None:
        for _ in range(most):
            keyboard.press("Tab")
            assert page.evaluate(_UNDER_THE_BAR) == ""
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"{selector} is not reached")

    go_to(".bar .primary")
    keyboard.press("Enter")
    page.locator("#sign").wait_for()
    go_to("[href='#confirm']")
    keyboard.press("Enter")
    page.locator("#confirm").wait_for()
    go_to("#consent")
    keyboard.press("Space")
    go_to("[data-send]")
    keyboard.press("Enter")
    code = Journey(page).shown_code()
    page.locator("#code:focus").wait_for()
    keyboard.type(code)
    keyboard.press("Enter")
    page.locator("body[data-state=signed]").wait_for()
    assert page.evaluate("document.activeElement.id") == "done"


def test_without_scripts(visit: Callable[..., Any], world: World) -> None:
    """A mistake keeps what was entered and leads to its field; then it is signed."""
    page = visit(world.asked(initials_required=True)[0], java_script_enabled=False, statuses=(422,))
    page.get_by_role("link", name="Sign", exact=True).click()
    assert page.get_by_text("does not run this page’s script").first.is_visible()
    assert page.get_by_role("radio", name="Draw it").count() == 0
    page.get_by_role("link", name="Continue").click()
    page.locator("#consent").check()
    page.get_by_role("button", name="Sign 1 document").click()
    page.locator("#problems").get_by_role("link").click()
    assert page.url.endswith("#code") and page.locator("#consent").is_checked()
    _confirm_by_forms(page, world)


def _confirm_by_forms(page: Any, world: World) -> None:
    page.get_by_role("button", name="Send code").click()
    told = page.locator("#code-status").filter(has_text="Test environment: the code is").inner_text()
    code = re.search(r"\b\d{6}\b", told)
    assert code and any(code.group() in message["text"] for message in world.inbox())
    page.locator("#code").fill(f" {code.group()[:3]}-{code.group()[3:]} ")
    page.locator("#consent").check()
    page.get_by_role("button", name="Sign 1 document").click()
    page.locator("body[data-state=already_signed]").wait_for()


_HAS_INK = """(canvas) => {
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const pen = copy.getContext("2d", { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    return pen.getImageData(0, 0, copy.width, copy.height).data.some((byte) => byte);
}"""


@pytest.mark.thorough
def test_a_turned_phone_keeps_the_strokes(visit: Callable[..., Any], world: World) -> None:
    page = visit(world.asked()[0], **PHONE)
    journey = Journey(page).to_signature()
    journey.draw()
    drawn = journey.strokes()
    for width, height in ((740, 375), (375, 740)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(100)
        assert page.locator("[data-pad=signature] canvas").evaluate(_HAS_INK)
        assert journey.strokes() == drawn and drawn.count(",") > 20


@pytest.mark.parametrize(
    "zone", ["America/New_York", "Pacific/Kiritimati", pytest.param("Pacific/Pago_Pago", marks=pytest.mark.thorough)]
)
def test_the_end_is_told_on_the_reader_s_clock_with_utc_behind(
    visit: Callable[..., Any], world: World, zone: str
) -> None:
    """The day in UTC is told where it is another. In German, a time is told with "Uhr"."""
    url = world.asked()[0]
    shown = visit(url, timezone_id=zone, locale="en-US").locator(".opening time")
    end = datetime.fromisoformat(shown.get_attribute("datetime"))
    here = end.astimezone(ZoneInfo(zone))
    utc = f"{end:%H:%M} UTC" if end.date() == here.date() else f"{end:%-d %B %Y, %H:%M} UTC"
    assert shown.inner_text() == f"{here:%-d %B %Y, %H:%M} ({utc})"
    told = visit(f"{url}?lang=de", timezone_id=zone).locator(".opening time").inner_text()
    assert re.fullmatch(r"\d+\. \w+ 20\d\d um \d\d:\d\d\sUhr \((?:.* um )?\d\d:\d\d UTC\)", told), told


def test_a_drawing_is_shown_from_its_first_line_and_dots_are_none(visit: Callable[..., Any], world: World) -> None:
    """Choosing to draw hides the typed name; before the first line, no signature is shown, there or on the page."""
    page = visit(world.asked()[0])
    place, stamp = page.locator("[data-place='1']"), page.locator("figure.stamp")
    assert "signed" not in (place.get_attribute("class") or "")
    journey = Journey(page).to_signature()
    page.locator("[data-place='1'].signed").wait_for(state="attached")
    page.locator("[name=signature-type][value=drawn]").check()
    assert not stamp.is_visible() and place.locator("image").count() == 0
    canvas = page.locator("[data-pad=signature] canvas")
    for x in (40, 120, 200):
        canvas.click(position={"x": x, "y": 60})
    page.get_by_role("link", name="Continue").click()
    page.locator("#problem-signature").filter(has_text="no line in this drawing").wait_for()
    assert not stamp.is_visible() and not page.url.endswith("#confirm")
    journey.draw()
    stamp.wait_for()
    page.locator("[data-place='1'].signed").wait_for(state="attached")


@pytest.mark.parametrize(
    ("language", "width", "height"),
    [
        ("de", 320, 568),
        pytest.param("en", 360, 640, marks=pytest.mark.thorough),
        pytest.param("el", 360, 640, marks=pytest.mark.thorough),
        pytest.param("en", 740, 360, marks=pytest.mark.thorough),
    ],
)
def test_the_bar_covers_nothing_that_has_the_focus(
    visit: Callable[..., Any], world: World, language: str, width: int, height: int
) -> None:
    """The bar covers no part of a link, place or button, whether the focus moves forwards or backwards."""
    link = world.asked(initials_required=True, language=language)[0]
    page = visit(link, viewport={"width": width, "height": height})
    page.locator("html[data-scripted]").wait_for()
    for key in ("Tab", "Shift+Tab"):
        for _ in range(24):
            page.keyboard.press(key)
            assert page.evaluate(_UNDER_THE_BAR) == "", key


_UNDER_THE_BAR = """() => {
    const at = document.activeElement, box = at.getBoundingClientRect();
    if (at === document.body || at.closest(".bar, .steps, .skip")) return "";
    const bar = document.querySelector(".bar").getBoundingClientRect();
    const steps = document.querySelector(".steps");
    const top = getComputedStyle(steps).position === "sticky" ? steps.getBoundingClientRect().bottom : 0;
    const covered = box.bottom > bar.top + 1 && box.top < bar.bottom || box.top < top - 1;
    return covered ? `${at.outerHTML.slice(0, 90)} ${box.top} ${box.bottom} ${bar.top}` : "";
}"""


@pytest.mark.thorough
def test_consent_is_held_back_while_a_page_could_not_be_loaded(visit: Callable[..., Any], world: World) -> None:
    """The page says which page that is; consent is free again once the picture is there, whatever step is shown."""
    url = world.asked()[0]
    page = visit("about:blank", lost=True)
    page.route("**/pages/2.webp", lambda route: route.abort())
    page.goto(url)
    page.locator("[data-page$='/2'] img").scroll_into_view_if_needed()
    page.locator("[data-page$='/2'] .failed").wait_for()
    Journey(page).to_signature().to_confirm()
    told = page.locator("#problem-consent")
    told.filter(has_text="Page 2 of “Lease Harbour Street 4.pdf” could not be loaded").wait_for()
    assert told.get_attribute("role") == "alert"
    page.locator("#consent").click()
    assert not page.locator("#consent").is_checked() and told.is_visible()
    page.locator("#code").fill("123456")
    page.locator("[data-sign]").click()
    assert told.is_visible() and page.locator("body[data-state=ready]").count() == 1
    page.unroute("**/pages/2.webp")
    told.wait_for(state="hidden", timeout=60_000)
    page.locator("#consent").check()
    assert page.locator("#consent").is_checked() and not told.is_visible()


def two_documents(world: World) -> str:
    """Return the address of a signer who signs at the end of each of two documents."""
    rules = world.backend.upload(contract(2, "House rules"), "House rules.pdf")
    return world.asked_for((world.document(), [at(3, 316, 60)]), (rules, [at(2, 316, 60)]))


def test_the_next_signature_names_its_document_among_several(visit: Callable[..., Any], world: World) -> None:
    url = two_documents(world)
    page = visit(url)
    page.locator("html[data-scripted]").wait_for()
    next_place, where = page.get_by_role("link", name=re.compile("^Next signature")), page.locator("[data-where]")
    first = "page 3 · Lease Harbour Street 4.pdf"
    assert next_place.text_content() == f"Next signature: {first}"
    assert where.text_content() == "Page 1 of 3 · Lease Harbour Street 4.pdf"
    next_place.click()
    next_place.filter(has_text="page 2 · House rules.pdf").click()
    assert page.locator("[data-place='2']").evaluate(_IN_SIGHT)
    assert where.text_content() == "Page 2 of 2 · House rules.pdf"
    plain = visit(url, java_script_enabled=False)
    assert plain.get_by_role("link", name=f"Next signature: {first}").count() == 1
    assert plain.locator("[data-where]").text_content() == f"Your signature is on {first}"


def test_the_next_signature_is_pressed_while_pages_pass(visit: Callable[..., Any], world: World) -> None:
    """The click would be lost if the button's words were replaced between press and release."""
    page = visit(two_documents(world))
    page.locator("html[data-scripted]").wait_for()
    name = page.locator("[data-next] bdi").bounding_box()
    page.mouse.move(name["x"] + name["width"] / 2, name["y"] + name["height"] / 2)
    page.mouse.down()
    page.evaluate("new Promise((passed) => (scrollBy(0, 40), setTimeout(() => requestAnimationFrame(passed), 200)))")
    page.mouse.up()
    page.get_by_role("link", name="Next signature: page 2").wait_for()
    assert page.locator("[data-place='1']").evaluate(_IN_SIGHT)


@pytest.mark.thorough
def test_the_next_signature_is_not_offered_to_who_is_there(visit: Callable[..., Any], world: World) -> None:
    page = visit(world.asked()[0])
    page.locator("html[data-scripted]").wait_for()
    next_place = page.get_by_role("link", name="Next signature: page 3")
    next_place.click()
    next_place.wait_for(state="hidden")
    assert page.locator("[data-place='1']").evaluate(_IN_SIGHT)
    page.evaluate("scrollTo(0, 0)")
    next_place.wait_for()


@pytest.mark.thorough
def test_small_print_of_a_large_plan_can_be_read(visit: Callable[..., Any], world: World) -> None:
    """An A0 page is enlarged to eight times its width, in parts that together have twice as many pixels per point as
    the sharpest single picture; the parts in view are loaded."""
    plan = world.backend.upload(paper(text("Pump 4, 6 bar", 300, 3000, 6), size=(2384, 3370)), "Plan.pdf")
    link = world.asked_for((plan, [at(1, 316, 60)]))
    page = visit(link, viewport={"width": 1280, "height": 900}, statuses=(503,))
    sheet = page.locator("[data-page]").first
    for _ in range(3):
        page.get_by_role("button", name="Zoom in").click()
    sheet.locator("img[data-sharp='400']").wait_for()
    single = sheet.locator("img").first.evaluate("picture => picture.naturalWidth")
    assert single == pytest.approx(2384 * 1.41, rel=0.01)
    page.get_by_role("button", name="Zoom in").click()
    assert page.get_by_role("button", name="Zoom in").is_disabled()
    part = sheet.locator(".parts img").first
    until(lambda: part.evaluate("picture => picture.naturalWidth"))
    assert 4 * part.evaluate("picture => picture.naturalWidth") == pytest.approx(2 * single, abs=8)
    boxes = [each.evaluate("e => e.getBoundingClientRect().toJSON()") for each in (sheet.locator("img").first, part)]
    assert boxes[0]["left"] == boxes[1]["left"] and boxes[0]["width"] == pytest.approx(4 * boxes[1]["width"], abs=0.1)
    loaded = "parts => parts.filter((part) => part.naturalWidth).length"
    assert 0 < sheet.locator(".parts img").evaluate_all(loaded) < 16
    page.get_by_role("button", name="Zoom out").click()
    assert not part.is_visible()


_PASTED = """text => {
    const field = document.getElementById("code");
    field.value = "";
    field.focus();
    document.execCommand("insertText", false, text);
    return digits(field.value);
}"""


def test_ten_forms_of_a_pasted_code(visit: Callable[..., Any], world: World) -> None:
    page = visit(f"{world.asked()[0]}#confirm")
    for pasted in (
        *("244283", " 244283 ", "Code: 244283", "244-283", "244 283", "244283\n", "Your code is 244283.", "«244283»"),
        *("\u200f244283\u200f", "٢٤٤٢٨٣"),
    ):
        assert page.evaluate(_PASTED, pasted) == "244283", pasted


def test_what_is_said_of_codes(visit: Callable[..., Any], world: World) -> None:
    """After a wrong code the tries that are left are told, an outdated code is called so; the fifth wrong try ends the
    code, and a new code works at once; the twentieth wrong try locks the page."""
    url = world.asked()[0]
    page = visit(url, statuses=(422, 429))
    old = code_for(url)
    journey = Journey(page).to_signature().to_confirm()
    new = journey.code()
    assert page.locator("[data-send]").is_disabled() and "0:" in page.locator("#code-status + span").inner_text()
    page.locator("#consent").check()

    def entered(code: str, says: str) -> None:
        page.locator("#code").fill(code)
        page.locator("[data-sign]").click()
        page.locator("#problem-code").filter(has_text=says).wait_for()
        assert page.evaluate("document.activeElement.id") == "code"

    wrong = next(other for other in (wrong_for(new), wrong_for(wrong_for(new))) if other != old)
    page.locator("#problem-code[role=alert]").evaluate(_COUNT_TOLD)
    for time in (1, 2):  # a repeated sentence is announced again
        entered(old, "expired")
        until(lambda time=time: page.evaluate("window.told") == time)
    for left in ("2 tries are", "1 try is"):
        entered(wrong, left)
    entered(wrong, "Request a new one")
    entered(wrong, "Request a new one")
    assert page.locator("[data-send]").is_enabled() and page.locator("body[data-state=ready]").count() == 1
    newest = journey.code()
    assert not page.locator("#problem-code").is_visible()
    wrong = wrong_for(newest) if wrong_for(newest) != new else wrong_for(wrong_for(newest))
    entered(wrong, "4 tries are")
    for _ in range(4):
        sign(url, wrong)
    five_wrong(url)
    five_wrong(url)
    page.evaluate("pause(0)")  # skips the half minute until the page offers another code
    page.locator("[data-send]").click()
    page.locator("body[data-state=locked] h1").filter(has_text="Too many wrong codes").wait_for()


_COUNT_TOLD = """(line) => {
    window.told = 0;
    const count = (changes) => changes.forEach((change) => (window.told += change.addedNodes.length));
    new MutationObserver(count).observe(line, { childList: true });
}"""


def test_another_language_keeps_what_was_entered_and_a_reload_the_step(visit: Callable[..., Any], world: World) -> None:
    page = visit(world.asked()[0])
    journey = Journey(page).to_signature()
    journey.draw()
    drawn = journey.strokes()
    journey.to_confirm()
    page.locator("#consent").check()
    page.locator("#code").fill("123456")
    page.locator(".languages summary").click()
    page.locator(".languages button[value=de]").click()
    page.locator("html[lang=de]").wait_for()
    assert page.url.endswith("#confirm")
    assert page.locator("#consent").is_checked() and page.locator("#code").input_value() == "123456"
    assert page.locator("#signature-drawn").is_checked() and journey.strokes() == drawn
    page.reload()
    assert page.url.endswith("#confirm") and page.locator("#confirm").is_visible()


def test_stamp_and_dates_are_in_the_language_of_the_page(visit: Callable[..., Any], world: World) -> None:
    """The language is Greek, where a time of day ends with a full stop, of which a sentence shows only one."""
    page = visit(f"{world.asked()[0]}?lang=el", timezone_id="Africa/Abidjan")  # whose time is UTC
    until = page.locator("p:has(> time)").first.inner_text()
    assert until.endswith(" UTC.") and ".." not in until
    with page.expect_response(lambda answer: answer.request.method == "POST" and "/stamp" in answer.url) as preview:
        Journey(page).to_signature()
        Journey(page).draw()
    assert preview.value.url.endswith("/stamp?lang=el")


def test_a_stamp_that_a_busy_service_refuses_is_asked_for_again(visit: Callable[..., Any], world: World) -> None:
    page = visit(world.asked()[0], statuses=(503,))
    page.clock.install()
    busy = {"status": 503, "json": {"error": {"code": "unavailable", "message": "The service is too busy."}}}
    page.route("**/stamp?*", lambda route: route.fulfill(**busy), times=1)
    with page.expect_response("**/stamp?*") as refused:
        Journey(page).to_signature()
    assert refused.value.status == 503
    with page.expect_response("**/stamp?*") as shown:
        page.clock.run_for(5000)
    assert shown.value.status == 200
    page.locator("[data-stamp][src^='data:image/svg']").first.wait_for(state="attached")


def test_a_second_tab_after_signing(visit: Callable[..., Any], world: World) -> None:
    """The tab says that the document is signed, not that signing is refused or that pages could not be loaded."""
    url = world.asked(signers=2)[0]
    page, second, loading = (visit(url, statuses=(409,)) for _ in range(3))
    other = Journey(second).to_signature().to_confirm()
    Journey(page).whole()
    other.enter("123456")
    second.locator("body[data-state=already_signed]").wait_for()
    loading.locator("[data-page] img").first.evaluate("(each) => { each.src = each.src.replace('.webp', '-150.webp') }")
    loading.locator("body[data-state=already_signed]").wait_for()


@pytest.mark.thorough
def test_a_link_opened_again_follows_the_sealing(visit: Callable[..., Any], world: World) -> None:
    """The page names the day of the signature, even on that day."""
    url = world.asked()[0]
    with world.sealing_paused():
        assert sign(url).status_code == 200
        page = visit(url)
        page.locator("[data-progress=sealing]").wait_for()
    page.locator("[data-progress=ready]").wait_for()
    assert re.search(r"\b20\d\d, \d", page.get_by_text("You signed on").inner_text())


def test_a_lost_connection_in_the_middle_of_signing(visit: Callable[..., Any], world: World) -> None:
    """Nothing is lost or signed twice, whether the service never heard of it or signed but could not say so."""
    url = world.asked(signers=2)[0]
    page = visit(url, statuses=(409,), lost=True)
    journey = Journey(page).to_signature()
    journey.draw()
    journey.to_confirm()
    code = journey.code()
    page.context.set_offline(True)
    journey.enter(code)
    page.locator("#problem").filter(has_text="nothing is lost").wait_for()
    assert page.locator("#code").input_value() == code and page.locator("#consent").is_checked()
    page.context.set_offline(False)

    def cut(route: Any) -> None:
        route.fetch()
        route.abort()

    page.route("**/signature", cut)
    page.locator("[data-sign]").click()
    page.locator("#problem").filter(has_text="nothing is lost").wait_for()
    page.unroute("**/signature")
    page.locator("[data-sign]").click()
    page.locator("body[data-state=already_signed]").wait_for()
    assert [e["event_type"] for e in world.backend.journal(world.newest)].count("signer.signed") == 1


@pytest.mark.thorough
def test_a_slow_network(visit: Callable[..., Any], world: World) -> None:
    """Every answer takes a third of a second, in which the button cannot be pressed twice. What the page was still
    loading is refused once it is signed."""
    page = visit(world.asked(signers=2)[0], statuses=(409,))
    session = page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 300, "downloadThroughput": 50_000, "uploadThroughput": 20_000}
    session.send("Network.emulateNetworkConditions", slow)
    page.reload()
    journey = Journey(page).to_signature().to_confirm()
    journey.enter(journey.code())
    assert page.locator("[data-sign]").is_disabled()
    page.locator("body[data-state=signed]").wait_for()


@pytest.mark.thorough
def test_texts_of_pages_are_not_loaded_while_a_signature_is_on_its_way(visit: Callable[..., Any], world: World) -> None:
    """A text that comes late would be refused once the page is signed; after a refused signature it is loaded."""
    page = visit(world.asked()[0], statuses=(422,))
    texts = "**/pages/2/text"
    with page.expect_request(texts):
        page.route(texts, lambda route: None)  # it never comes
        journey = Journey(page).to_signature().to_confirm()
    code = journey.code()
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/pages/2/text")):
        journey.enter(wrong_for(code))
    page.unroute(texts)
    page.locator("[data-page$='/2'] .words").wait_for(state="attached")
    journey.enter(code)
    page.locator("body[data-state=signed]").wait_for()


def test_reading(visit: Callable[..., Any], world: World) -> None:
    """Each page has its words, enlarging brings a sharper picture, and all can be read as text."""
    page = visit(world.asked()[0], viewport={"width": 1280, "height": 900}, statuses=(503,))  # on a busy machine
    for number in (1, 2, 3):
        sheet = page.locator(f"[data-page$='/{number}']")
        sheet.scroll_into_view_if_needed()
        sheet.locator(".words").filter(has_text=f"This is page {number} of 3").wait_for(state="attached")
    first = page.locator("[data-page$='/1']")
    first.scroll_into_view_if_needed()
    width = first.locator("img").evaluate("picture => picture.naturalWidth")
    for _ in range(3):
        page.get_by_role("button", name="Zoom in").click()
    assert page.get_by_role("button", name="Zoom in").is_disabled()
    first.locator("img[data-sharp='400']").wait_for()
    assert first.locator("img").evaluate("picture => picture.naturalWidth") > 2.5 * width
    assert page.evaluate(SIDEWAYS) == 0
    page.get_by_role("link", name="Read as text").click()
    assert "This is page 3 of 3" in page.locator("main").inner_text()


@pytest.mark.thorough
def test_an_enlarged_page_begins_where_its_lines_do(visit: Callable[..., Any], world: World) -> None:
    """This holds also where the page around it is read from right to left."""
    page = visit(f"{world.asked(pages=1)[0]}?lang=ar", viewport=PHONE["viewport"], statuses=(503,))
    sheet = page.locator("[data-page$='/1']")
    sheet.locator(".words").filter(has_text="This is page").wait_for(state="attached")
    page.locator("[data-zoom='1']").click()
    lefts = sheet.evaluate("sheet => [sheet, sheet.firstElementChild].map(each => each.getBoundingClientRect().left)")
    assert lefts[0] == lefts[1]


@pytest.mark.thorough
def test_with_scripts_that_do_not_arrive(visit: Callable[..., Any], world: World) -> None:
    """The page says so, after five seconds its pictures come by themselves, and it is signed by plain forms."""
    page = visit("about:blank", lost=True)
    page.route("**/*.js", lambda route: route.abort())
    page.goto(world.asked()[0])
    last = page.locator("[data-page$='/3'] img")
    last.scroll_into_view_if_needed()
    until(lambda: last.evaluate("picture => getComputedStyle(picture.parentElement).clipPath") == "none")
    until(lambda: last.evaluate("picture => picture.naturalWidth"))
    page.get_by_role("link", name="Sign", exact=True).click()
    assert page.get_by_text("does not run this page’s script").first.is_visible()
    page.get_by_role("link", name="Continue").click()
    _confirm_by_forms(page, world)


@pytest.mark.parametrize(
    ("language", "title"), [pytest.param("en", "You have approved", marks=pytest.mark.thorough), ("ar", "تمت الموافقة")]
)
def test_an_approver_reads_and_confirms(visit: Callable[..., Any], world: World, language: str, title: str) -> None:
    page = visit(world.asked(signers=2, approvers=1, language=language)[0], **NARROW)
    fits(page)
    page.locator(".bar a.primary").click()
    page.locator("#confirm").wait_for()
    fits(page)
    Journey(page).confirm()
    assert page.locator("#done h1").inner_text() == title
    fits(page)


@pytest.mark.parametrize(
    ("language", "title"), [("en", "You have declined"), pytest.param("ar", "لقد رفضت", marks=pytest.mark.thorough)]
)
def test_a_signer_declines(visit: Callable[..., Any], world: World, language: str, title: str) -> None:
    page = visit(world.asked(decline_allowed=True, language=language)[0], **NARROW, statuses=(200, 410))
    page.locator("a[href$='/decline']").click()
    page.locator("textarea[name=reason]").fill("The rent is wrong.")
    fits(page)
    page.locator("form button.grave").click()
    page.locator("body[data-state=expired]").wait_for()
    assert page.locator("h1").inner_text() == title
