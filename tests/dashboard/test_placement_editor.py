"""The placement editor in Chromium: signatures and fields by mouse, touch, keys and numbers."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from tests.chromium import launch
from tests.cli.service import Service
from tests.dashboard.editor_window import Draft, Window, begin_draft
from tests.pdf.pdf_factory import paper, text

PLACE = {"page": 2, "x": 120, "y": 300, "width": 180, "height": 70}
TURNED = {"/Rotate": 90, "/CropBox": [50, 40, 450, 640], "/UserUnit": 1.5}
PHONE = {"has_touch": True, "viewport": {"width": 375, "height": 740}}
Open = Callable[..., Window]


def in_all_ways(usual: Callable[[Window], None], *others: Callable[[Window], None]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("way", [usual, *(pytest.param(way, marks=pytest.mark.thorough) for way in others)])


@pytest.fixture(scope="module")
def begin(shared_service: Service) -> Callable[..., Draft]:
    """Return a function that begins drafts in an organization of their own."""
    made = shared_service.command("organization", "create", "Acme", "--plan", "enterprise")
    return partial(begin_draft, shared_service, organization=made["id"])


@pytest.fixture(scope="module")
def draft(begin: Callable[..., Draft]) -> Iterator[Draft]:
    """A draft of two upright pages and one that is turned, cropped and scaled, with a tag."""
    upright = paper(text("Page one", 72, 750), text("Signature: ____________________", 72, 500))
    draft = begin(upright, paper(text("{{ada}}", 150, 400), page=TURNED))
    yield draft
    draft.browser.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def open_editor(chromium: Any, draft: Draft) -> Iterator[Open]:
    """Return a function that opens the editor without a stamp. The test fails where the page logs an error."""
    wrong: list[str] = []
    contexts = []

    def open_editor(**options: Any) -> Window:
        draft.clear()
        context = chromium.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | options
        )
        contexts.append(context)
        context.add_cookies(draft.cookies)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text) if _is_wrong(message) else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(draft.address)
        return Window(page)

    yield open_editor
    for context in contexts:
        context.close()
    assert wrong == []


def _is_wrong(message: Any) -> bool:
    """Whether the message tells of a fault: a refused form or picture is none, though Chromium logs 422 or 503."""
    expected = ("status of 422", "status of 503")
    return message.type in ("error", "warning") and not any(part in message.text for part in expected)


@pytest.fixture
def window(open_editor: Open) -> Window:
    return open_editor()


def by_mouse(window: Window) -> None:
    window.sign(2, 300, 400)
    window.mouse_drag(2, (300, 400), (200, 328))
    window.mouse_drag(2, (280, 356), (300, 370), corner="ne")


def by_dragging(window: Window) -> None:
    """Drag a signature from the palette onto the page."""
    drag_from_palette(window, "", (300, 400))
    window.mouse_drag(2, (300, 400), (200, 328))
    window.mouse_drag(2, (280, 356), (300, 370), corner="ne")


def by_drawing(window: Window) -> None:
    window.page.get_by_role("button", name="Add signature").click()
    window.mouse_drag(2, (300, 370), (120, 300))


def by_touch(window: Window) -> None:
    window.page.get_by_role("button", name="Add signature").tap()
    window.tap(2, 300, 400)
    window.touch_drag(2, window.middle(), (200, 328))  # taps come in whole pixels, which are larger than a point
    window.touch_drag(2, (280, 356), (300, 370), corner="ne")


def by_keys(window: Window) -> None:
    """Add a signature by its button and move it to its place, without a mouse."""
    page = window.page
    page.evaluate(_SHOW, 3)  # whose tag has room for the usual size
    expect(page.locator("[data-rail] a").nth(2)).to_have_attribute("aria-current", "true")
    page.get_by_role("button", name="Add signature").focus()
    page.keyboard.press("Enter")
    box = page.locator(".box")
    expect(box).to_be_focused()
    while window.entered()[0]["page"] != PLACE["page"]:
        page.keyboard.press("PageDown" if window.entered()[0]["page"] < PLACE["page"] else "PageUp")
    window.press_to(PLACE["x"], PLACE["y"])
    assert window.said().startswith("Signature 1 of Ada Byron: page 2, X 120, Y 300")
    for key in ("Alt+Shift+ArrowRight", "Alt+Shift+ArrowRight", "Alt+Shift+ArrowUp", *["Alt+ArrowUp"] * 4):
        page.keyboard.press(key)


def by_numbers(window: Window) -> None:
    window.page.get_by_role("button", name="Add signature").click()
    window.unfold()
    for name, value in PLACE.items():
        window.page.locator("[data-stamp]").get_by_label(name.capitalize(), exact=True).fill(str(value))
    window.page.keyboard.press("Tab")


@in_all_ways(by_mouse, by_touch, by_dragging, by_drawing, by_keys, by_numbers)
def test_all_ways_lead_to_the_same_points(way: Callable[[Window], None], open_editor: Open, draft: Draft) -> None:
    window = open_editor(**(PHONE if way is by_touch else {}))
    way(window)
    assert window.entered() == [PLACE]
    window.saved()
    assert draft.stored() == [PLACE]
    assert window.drawn() == [PLACE]


def test_points_are_those_of_the_page_as_it_is_read(draft: Draft, window: Window) -> None:
    """On a page that is turned, cropped and scaled, a click on the tag places what the service would place."""
    assert window.size(3) == (900, 600)
    window.page.get_by_role("button", name="Place a signature at “{{ada}}” on page 3").click()
    [placed] = window.entered()
    expected = draft.under_the_tag()
    assert all(abs(placed[name] - expected[name]) <= 1 for name in PLACE), (placed, expected)
    window.mouse_drag(3, window.middle(), (899, 1))  # as far as the page goes
    assert window.entered() == [{"page": 3, "x": 740, "y": 0, "width": 160, "height": 56}]


def test_stamps_are_copied_undone_and_deleted(draft: Draft, window: Window) -> None:
    page = window.page
    page.get_by_role("radio", name="Grace Byron").check()
    by_drawing(window)
    page.get_by_role("button", name="Copy to all pages").click()
    assert [stamp["page"] for stamp in window.entered()] == [2, 1, 3]
    assert window.said() == "Copied to other pages: 2."
    copy = page.get_by_role("button", name="Copy to all pages")
    expect(copy).to_have_attribute("aria-disabled", "true")  # no page lacks a copy
    copy.click(force=True)
    assert len(window.entered()) == 3
    page.get_by_role("button", name="Undo").click()
    assert window.entered() == [PLACE]
    page.get_by_role("button", name="Redo").click()
    page.locator(".box").nth(1).focus()
    page.keyboard.press("Delete")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+y")
    assert len(window.entered()) == 2
    window.saved()
    page.reload()
    assert len(window.entered()) == len(draft.stored()) == 2
    assert {
        option.text_content() for option in page.locator("[data-stamp] select[name$=-signer] option:checked").all()
    } == {"2. Grace Byron"}
    page.get_by_role("radio", name="Ada Byron").check()
    window.sign(1, 300, 700)
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/review")


@pytest.mark.thorough
def test_a_stamp_goes_to_another_page_and_back_with_escape(open_editor: Open) -> None:
    window = open_editor(viewport={"width": 1280, "height": 2600})
    window.sign(1, 300, 200)
    window.mouse_drag(1, (300, 200), (300, 600), to_page=2)
    assert window.entered() == [{"page": 2, "x": 220, "y": 572, "width": 160, "height": 56}]
    window.mouse_drag(2, (300, 600), (100, 100), drop=False)
    window.page.keyboard.press("Escape")
    assert window.entered()[0]["y"] == 572
    window.page.mouse.up()
    assert window.entered()[0]["y"] == 572


def test_a_finger_scrolls_the_page_but_not_while_it_drags_a_stamp(open_editor: Open) -> None:
    window = open_editor(is_mobile=True, **PHONE)
    window.page.get_by_role("button", name="Add signature").tap()
    window.tap(1, 300, 400)
    before = window.page.evaluate("scrollY")
    x, y = window.middle()
    window.touch_drag(1, (x, y), (x, y + 100))
    assert window.page.evaluate("scrollY") == before
    assert window.middle() == (x, y + 100)
    window.touch_drag(1, (300, 300), (300, 500))
    assert window.page.evaluate("scrollY") > before
    assert len(window.entered()) == 1


def test_stamps_snap_to_lines_for_signatures(window: Window) -> None:
    """A click above the line snaps, as does a drag that ends near it; with Alt nothing snaps."""
    window.sign(2, 160, 510)
    [on_the_line] = window.entered()
    assert 125 < on_the_line["x"] < 145 and 494 < on_the_line["y"] < 501
    x, y = window.middle()
    window.mouse_drag(2, (x, y), (x + 100, y - 100))
    window.mouse_drag(2, (x + 100, y - 100), (x + 4, y - 4))
    assert window.entered() == [on_the_line]
    window.page.keyboard.down("Alt")
    window.mouse_drag(2, (x, y), (x + 4, y - 4))
    assert window.entered()[0]["y"] == on_the_line["y"] - 4


@pytest.mark.thorough
def test_zoom_changes_the_picture_and_no_point(window: Window) -> None:
    by_drawing(window)
    picture = window.page.locator(".sheet[data-page='2'] img")
    before = window.scale(2)
    for _ in range(5):
        window.page.get_by_role("button", name="Zoom in").click()
    assert 3.5 < window.scale(2) / before < 4.5
    window.page.wait_for_function("image => /-(200|400)[.]webp$/.test(image.src)", arg=picture.element_handle())
    assert window.entered() == window.drawn() == [PLACE]
    for _ in range(7):
        window.page.get_by_role("button", name="Zoom out").click()
    assert window.page.locator("output").text_content() == "50 %"
    assert window.entered() == window.drawn() == [PLACE]


@pytest.mark.parametrize("width", [375, pytest.param(1280, marks=pytest.mark.thorough)])
def test_axe_finds_nothing(width: int, open_editor: Open) -> None:
    window = open_editor(viewport={"width": width, "height": 800})
    window.sign(1, 200, 400)
    for scheme in ("light", "dark"):
        window.page.emulate_media(color_scheme=scheme)
        results = Axe().run(window.page, context="main")
        assert results.violations_count == 0, results.generate_report()
    assert window.sideways() == 0


def seen(window: Window, selector: str) -> bool:
    """Whether the whole element stands between the bars that stick."""
    return bool(
        window.page.evaluate(
            """(selector) => {
                const at = document.querySelector(selector).getBoundingClientRect();
                const bar = (name) => document.querySelector(name).getBoundingClientRect();
                return at.top >= bar(".workbar").bottom - 1 && at.bottom <= innerHeight + 1;
            }""",
            selector,
        )
    )


@pytest.mark.thorough
def test_the_view_follows_what_is_moved_or_edited(window: Window) -> None:
    page = window.page
    window.sign(1, 300, 600)
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    assert window.entered()[0]["page"] == 3 and seen(window, ".box")
    page.evaluate("scrollTo(0, 0)")
    assert not seen(window, ".box")
    window.unfold()
    page.locator("[data-stamp] [name$='-height']").focus()
    assert seen(window, ".box"), "whoever edits properties sees what they are of"
    page.locator("[data-stamp] [name$='-page']").fill("1")
    page.locator("[data-stamp] [name$='-page']").press("Tab")
    assert seen(window, ".box")


@pytest.mark.thorough
def test_any_page_is_one_choice_away(open_editor: Open) -> None:
    """A list of pages takes the place of the rail where there is no room for it."""
    window = open_editor(viewport={"width": 1024, "height": 768})
    choice = window.page.get_by_label("Go to page")
    assert choice.locator("option").all_inner_texts() == ["1 / 3", "2 / 3", "3 / 3"]
    choice.select_option(index=2)
    assert window.page.locator(".sheet[data-page='3'] .paper").bounding_box()["y"] < 450  # type: ignore[index]
    window.page.evaluate("scrollTo(0, 0)")
    expect(choice).to_have_js_property("selectedIndex", 0)


@pytest.mark.thorough
def test_the_rail_says_how_many_stamps_each_page_has_and_leads_there(window: Window) -> None:
    rail = window.page.locator("[data-rail]")
    window.sign(2, 300, 600)
    window.sign(2, 300, 200)
    assert rail.locator("b").all_text_contents() == ["0", "2", "0"]
    expect(rail.get_by_role("link", name="Page 2, places: 2")).to_have_attribute("aria-current", "true")
    rail.get_by_role("link", name="Page 3, places: 0").click()
    expect(rail.locator("[aria-current]")).to_have_text("30")
    assert window.page.locator(".sheet[data-page='3'] .paper").bounding_box()["y"] < 450  # type: ignore[index]
    rail.locator("[aria-current]").press("ArrowUp")
    expect(rail.get_by_role("link", name="Page 2, places: 2")).to_be_focused()
    window.page.keyboard.press("Enter")
    expect(rail.locator("[aria-current]")).to_have_text("22")
    window.saved()
    window.page.reload()
    assert rail.locator("b").all_text_contents() == ["0", "2", "0"]


@pytest.mark.thorough
def test_properties_are_those_of_what_is_selected(window: Window) -> None:
    """With nothing selected, the panel shows a hint."""
    panel, cards = window.page.locator(".panel"), window.page.locator("[data-stamp]")
    expect(panel).to_contain_text("Pick a person and a field, then click on the page.")
    for y in (600, 400, 200):
        window.sign(1, 300, y)
    assert [card.is_visible() for card in cards.all()] == [False, False, True]
    expect(panel.get_by_role("heading")).to_have_text("Signature")
    expect(cards.last.get_by_label("Y", exact=True)).to_be_hidden()
    window.page.locator(".box").first.focus()
    assert [card.is_visible() for card in cards.all()] == [True, False, False]
    window.unfold()
    cards.first.get_by_label("Width", exact=True).fill("5")
    window.mouse_click(1, 500, 700)
    assert not any(card.is_visible() for card in cards.all())
    expect(panel).to_contain_text("Pick a person and a field, then click on the page.")
    window.page.get_by_role("button", name="Continue").last.click()
    expect(cards.first.get_by_label("Width", exact=True)).to_be_focused()  # browsers focus what is wrong


@pytest.mark.parametrize("locale", ["en", pytest.param("de", marks=pytest.mark.thorough)])
def test_the_page_has_most_of_the_window(locale: str, open_editor: Open) -> None:
    """One bar with title, steps, what was saved and "Continue"; the menu shows icons until opened, then stays open."""
    window = open_editor(viewport={"width": 1280, "height": 720}, locale=locale)
    page = window.page
    bar = page.locator(".workbar")
    assert bar.bounding_box()["height"] <= 56  # type: ignore[index]
    for part in ("h1", ".steps", "button.primary", "[data-saved]"):
        expect(bar.locator(part)).to_have_count(1)
    shown = page.evaluate(_SHOWN)
    assert shown["height"] >= 560 and shown["whole"], shown
    assert page.locator(".side").bounding_box()["width"] < 70  # type: ignore[index]
    page.locator("#widen").check()
    assert page.locator(".side").bounding_box()["width"] > 200  # type: ignore[index]
    page.reload()
    expect(page.locator("#widen")).to_be_checked()
    assert window.sideways() == 0


_SHOWN = """() => {
    const paper = document.querySelector(".paper"), at = paper.getBoundingClientRect();
    const [low, high] = [document.querySelector(".workbar").getBoundingClientRect().bottom, innerHeight];
    const corners = [[at.left + 5, at.top + 5], [at.right - 5, at.top + 5], [at.left + 5, at.top + 555]];
    return { height: Math.min(at.bottom, high) - Math.max(at.top, low),
        whole: corners.every(([x, y]) => paper.contains(document.elementFromPoint(x, y))) };
}"""


def test_the_palette_begins_with_a_signature_and_without_a_choice_a_click_places_nothing(window: Window) -> None:
    kinds = window.page.locator("[data-kinds]")
    buttons = kinds.locator("button:visible, .toggle:visible, summary:visible")
    wanted = ["Signature", "Initials on each page", "Date signed", "Name", "Text", "Checkbox", "More"]
    assert [text.strip() for text in buttons.all_inner_texts()] == wanted
    expect(window.page.get_by_text("stamp", exact=False)).to_have_count(0)
    window.mouse_click(1, 300, 400)
    window.mouse_drag(1, (100, 200), (300, 300))
    assert window.entered() == []


@pytest.mark.parametrize("width", [390, 320])
def test_on_a_phone_the_palette_stands_at_the_foot(width: int, open_editor: Open) -> None:
    window = open_editor(has_touch=True, is_mobile=True, viewport={"width": width, "height": 844})
    page = window.page
    for _ in range(2):
        foot = page.locator(".tools").bounding_box()
        assert foot and round(foot["y"] + foot["height"]) == 844 and foot["height"] < 150
        assert page.get_by_role("button", name="Add signature").is_visible()
        page.evaluate("scrollTo(0, 700)")
    assert page.locator(".paper").first.bounding_box()["width"] > width - 30  # type: ignore[index]
    page.get_by_role("button", name="Add signature").tap()
    expect(page.locator("[data-stamp]")).to_be_hidden()
    page.get_by_text("Properties", exact=True).tap()
    expect(page.locator("[data-stamp]")).to_be_visible()
    assert window.sideways() == 0


def test_the_first_signature_goes_to_the_place_that_was_found(window: Window) -> None:
    """The next signature goes to the page that is looked at, as does the first one after turning a page."""
    add = window.page.get_by_role("button", name="Add signature")
    add.click()
    [first] = window.entered()
    assert first["page"] == 2 and 494 < first["y"] < 501
    window.page.evaluate(_SHOW, 1)
    add.click()
    assert window.entered()[1]["page"] == 1


@pytest.mark.thorough
def test_initials_are_asked_for_with_the_fields(window: Window) -> None:
    asked = window.page.get_by_label("Initials on each page")
    for wanted in (True, False):
        asked.set_checked(wanted)
        expect(window.page.locator("form.initialed")).to_have_count(int(wanted))
        window.saved()
        window.page.reload()
        expect(asked).to_be_checked(checked=wanted)


def test_copies_beyond_the_limit_are_refused_where_everybody_sees_it(
    draft: Draft, begin: Callable[..., Draft], window: Window
) -> None:
    many = begin(*[paper("") for _ in range(12)], browser=draft.browser)
    window.page.goto(many.address)
    window.sign(1, 300, 400)
    window.page.get_by_role("button", name="Copy to all pages").click()
    expect(window.page.locator("[data-said]")).to_have_text(
        "A signer can have 10 signatures per document; this one has 12 pages."
    )
    assert window.page.locator("[data-said]").bounding_box()["height"] > 20  # type: ignore[index]
    assert len(window.entered()) == 1


@pytest.mark.thorough
def test_many_pages_and_places_leave_nobody_waiting(
    open_editor: Open, draft: Draft, begin: Callable[..., Draft]
) -> None:
    """Each answer to mouse or keyboard comes within a tenth of a second, a delay that people do not notice."""
    window, length, stamps, fields = open_editor(), 64, 30, 60
    pages = [paper(text(f"Page {number}", 72, 750)) for number in range(length)]
    many = begin(*pages, browser=draft.browser, people=("Ada", "Grace", "Joan"))
    window.page.goto(many.address)
    assert window.page.locator(".sheet").count() == length
    for number in range(stamps):
        window.page.evaluate("number => document.getElementsByClassName('sheet')[number].scrollIntoView()", number * 2)
        window.page.locator(".palette label").nth(number % 3).click()
        window.page.get_by_role("button", name="Add signature").click()
    assert len(window.entered()) == stamps
    for number in range(3):
        window.page.locator(".palette label").nth(number).click()
        window.page.evaluate(_ADD_TEXTS, fields // 3 + (number < fields % 3))
    assert window.page.locator(".box").count() == stamps + fields
    times = window.page.evaluate(_TIMES)
    assert all(milliseconds < 100 for milliseconds in times.values()), times


_ADD_TEXTS = """count => {
    for (let each = 0; each < count; each += 1) document.querySelector("[data-field-type=text]").click();
}"""
_TIMES = """async () => {
    const times = {}; // of several, the least: the machine has other things to do as well
    document.querySelector(".stage").setPointerCapture = () => {}; // which no made event can hold
    const timed = (name, act) => {
        const start = performance.now();
        act();
        document.body.offsetHeight;
        times[name] = Math.min(times[name] ?? Infinity, performance.now() - start);
    };
    const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    for (let round = 0; round < 15; round += 1) {
        const box = document.querySelector(".box.selected"), at = box.getBoundingClientRect();
        const point = (type, by) => box.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerId: 1,
            pointerType: "mouse", button: 0, clientX: at.left + 20 + by, clientY: at.top + 20 + by }));
        point("pointerdown", 0);
        for (const by of [5, 6, 7]) {
            timed("move", () => point("pointermove", by));
            await new Promise(requestAnimationFrame);
        }
        timed("drop", () => point("pointerup", 7));
        for (const key of ["ArrowUp", round % 2 ? "PageDown" : "PageUp", "Delete"]) timed(key, () => press(key));
        timed("undo", () => document.querySelector("[data-do=undo]").click());
    }
    return times;
}"""


@pytest.mark.parametrize("size", [(640, 450), pytest.param((844, 390), marks=pytest.mark.thorough)])
def test_what_sticks_leaves_room_at_200_percent_and_in_landscape(size: tuple[int, int], open_editor: Open) -> None:
    window = open_editor(viewport={"width": size[0], "height": size[1]})
    window.page.evaluate("scrollTo(0, 900)")
    covered = window.page.evaluate(
        """() => ["header.bar", ".tools", ".workbar", ".panel"].map((name) => {
            const at = document.querySelector(name).getBoundingClientRect();
            return Math.max(Math.min(at.bottom, innerHeight) - Math.max(at.top, 0), 0);
        }).reduce((sum, height) => sum + height)"""
    )
    assert covered <= size[1] * 0.2 and window.sideways() == 0


@pytest.mark.thorough
def test_a_wrong_number_is_told_beside_its_field_until_it_is_right(window: Window) -> None:
    window.sign(1, 300, 400)
    window.saved()
    window.unfold()
    field = window.page.locator("[data-stamp] [name$='-x']")
    field.fill("5000")
    field.press("Tab")
    beside = window.page.locator("[data-stamp] .field:has([name$='-x']) .errorlist")
    expect(beside).to_contain_text("beyond that, it leaves the page", timeout=30_000)
    expect(field).to_have_attribute("aria-invalid", "true")
    assert field.get_attribute("aria-describedby") == beside.get_attribute("id")
    field.fill("50")
    field.press("Tab")
    expect(beside).to_have_count(0, timeout=30_000)
    window.saved()


def test_whoever_has_no_place_yet_is_told_where_they_stand(window: Window) -> None:
    notes = window.page.locator("[data-lacks-signer]")
    expect(notes.locator("visible=true")).to_have_count(2)
    expect(window.page.locator("[data-lacks-document]")).to_be_visible()
    window.sign(1, 300, 400)
    expect(notes.locator("visible=true")).to_have_count(1)
    expect(window.page.locator("[data-lacks-document]")).to_be_hidden()


def fields_of(window: Window) -> list[dict[str, Any]]:
    """Return the fields as they are entered."""
    found: list[dict[str, Any]] = window.page.evaluate(
        """() => [...document.querySelectorAll("[data-field-id]")].map((card) => Object.fromEntries(
            ["type", "name", "page", "x", "y", "width", "height"].map((name) => {
                const field = card.querySelector(`[name$="-${name}"]`);
                return [name, field.type === "number" ? Number(field.value) : field.value];
            })))"""
    )
    return found


def field_by_click(window: Window) -> None:
    window.page.locator("[data-field-type=text]").click()
    window.mouse_click(2, 200, 309)


def field_by_drag(window: Window) -> None:
    drag_from_palette(window, "text", (200, 309))


def drag_from_palette(window: Window, kind: str, to: tuple[float, float]) -> None:
    """Drag a field, or a signature where ``kind`` is empty, from the palette onto the second page."""
    window.page.evaluate(_SHOW, 2)
    button = window.page.locator(f"[data-field-type='{kind}']").bounding_box()
    assert button
    window.page.mouse.move(button["x"] + 10, button["y"] + 10)
    window.page.mouse.down()
    window.page.mouse.move(button["x"] + 20, button["y"] + 30)
    window.page.mouse.move(*window.place(2, *to), steps=4)
    window.page.mouse.up()


def field_by_touch(window: Window) -> None:
    window.page.locator("[data-field-type=text]").tap()
    window.tap(2, 200, 309)


def field_by_keys(window: Window) -> None:
    window.page.evaluate(_SHOW, 2)
    window.page.locator("[data-field-type=text]").focus()
    window.page.keyboard.press("Enter")
    expect(window.page.locator(".box.field")).to_be_focused()
    while fields_of(window)[0]["page"] != 2:
        window.page.keyboard.press("PageDown" if fields_of(window)[0]["page"] < 2 else "PageUp")
    window.press_to(120, 300, of=fields_of(window)[0])


def field_by_numbers(window: Window) -> None:
    window.page.locator("[data-field-type=text]").click()
    window.unfold()
    card = window.page.locator("[data-field-id]")
    for name, value in {"Page": 2, "X": 120, "Y": 300}.items():
        card.get_by_label(name, exact=True).fill(str(value))
    window.page.keyboard.press("Tab")


_SHOW = "(page) => document.querySelector(`.sheet[data-page='${page}']`).scrollIntoView()"
FIELD = {"type": "text", "name": "Text", "page": 2, "x": 120, "y": 300, "width": 160, "height": 18}


@in_all_ways(field_by_click, field_by_touch, field_by_drag, field_by_keys, field_by_numbers)
def test_fields_are_placed_in_all_ways(way: Callable[[Window], None], open_editor: Open) -> None:
    window = open_editor(**(PHONE if way is field_by_touch else {}))
    way(window)
    [placed] = fields_of(window)
    near = 1 if way is field_by_touch else 0  # taps come in whole pixels
    assert placed == {name: pytest.approx(n, abs=near) if name in "xy" else n for name, n in FIELD.items()}
    assert window.entered() == [], "a click that places a field places no stamp"
    window.saved()
    window.page.reload()
    assert fields_of(window) == [placed]


@pytest.mark.thorough
def test_fields_are_renamed_resized_aligned_copied_and_undone(window: Window) -> None:
    page = window.page
    field_by_click(window)
    window.unfold("Name, type")
    card = page.locator("[data-field-id]").first
    card.get_by_label("Name", exact=True).fill("IBAN")
    card.get_by_label("Name", exact=True).press("Enter")
    expect(page.locator(".box.field")).to_be_focused()  # and nothing is sent
    card.get_by_label("Required").uncheck()
    window.mouse_drag(2, (284, 322), (320, 336), corner="ne")
    assert fields_of(window)[0] | {"x": 120, "y": 300} == fields_of(window)[0]
    assert fields_of(window)[0]["width"] > 180 and fields_of(window)[0]["height"] > 28
    page.locator("[data-field-type=text]").click()
    window.mouse_click(2, 260, 250)
    page.get_by_role("button", name="Align with the one before").click()
    first, second = fields_of(window)
    assert (second["x"], second["width"]) == (first["x"], first["width"]) and second["y"] != first["y"]
    page.locator(".box.field").first.focus()
    page.get_by_role("button", name="Copy to all pages").click()
    assert [field["name"] for field in fields_of(window)] == ["IBAN", "Text", "IBAN-2", "IBAN-3"]
    page.keyboard.press("Control+z")
    assert [field["name"] for field in fields_of(window)] == ["IBAN", "Text"]
    window.saved()
    page.reload()
    assert [field["name"] for field in fields_of(window)] == ["IBAN", "Text"]
    assert not page.locator("[name=field-0-required]").is_checked()


@pytest.mark.thorough
def test_properties_are_those_that_the_type_has(window: Window) -> None:
    page = window.page
    page.get_by_text("More", exact=True).click()
    page.locator("[data-field-type=choice]").click()
    card = page.locator("[data-field-id]")
    expect(card.get_by_label("Options, one on each line")).to_have_value("Option 1\nOption 2")
    expect(card.get_by_label("Maximum length")).to_be_hidden()
    window.unfold("Name, type")
    card.get_by_label("Type").select_option("signed_on")
    expect(card.get_by_label("Required")).to_be_hidden()
    window.saved()
    results = Axe().run(page, context="main")
    assert results.violations_count == 0, results.generate_report()


def test_a_checkbox_is_ticked_by_a_checkbox(window: Window) -> None:
    """The checkbox stays ticked when the page is opened again."""
    page = window.page
    page.locator("[data-field-type=checkbox]").click()
    expect(page.get_by_label("Prefilled with")).to_be_hidden()
    page.get_by_label("Ticked from the start").check()
    window.saved()
    page.reload()
    page.locator(".box").focus()
    expect(page.get_by_label("Ticked from the start")).to_be_checked()


def test_a_picture_that_a_busy_service_refuses_is_asked_for_again(window: Window) -> None:
    refused: list[str] = []

    def answer(route: Any) -> None:
        refused.append(route.request.url)
        route.fulfill(status=503) if refused.count(route.request.url) == 1 else route.continue_()

    window.page.route("**/pages/*.webp", answer)
    window.page.reload()
    loaded = "() => [...document.querySelectorAll('.sheet[data-page=\"1\"] img, .rail img')].every(e => e.naturalWidth)"
    window.page.wait_for_function(loaded)
    assert refused


@pytest.mark.thorough
def test_a_remark_is_told_at_its_place_and_counted_in_the_bar(window: Window) -> None:
    page = window.page
    count, told = page.locator("[data-count]"), page.locator("[data-told]")
    expect(count).to_be_hidden()
    window.sign(1, 130, 750)
    sentence = "Ada's signature on page 1 covers “Page one”."
    expect(told).to_have_text(sentence, timeout=20_000)
    expect(count).to_have_text("1 remark")
    page.get_by_text("More", exact=True).click()
    page.evaluate(_SHOW, 2)
    page.locator("[data-field-type=choice]").click()
    expect(told).to_contain_text("still offers “Option 1” and “Option 2”", timeout=20_000)
    expect(count).to_have_text("2 remarks")
    expect(page.locator(".box.remarked")).to_have_count(2)
    count.click()
    expect(told).to_have_text(sentence)
    expect(page.locator(".box:not(.field)")).to_be_focused()
    assert seen(window, ".box:not(.field)")
    expect(page.locator(".box:not(.field)")).to_have_accessible_description(re.compile(re.escape(sentence)))
    count.click()
    expect(page.locator(".box.field")).to_be_focused()
    window.mouse_drag(1, (130, 750), (300, 300))
    expect(count).to_have_text("1 remark", timeout=20_000)


def test_without_scripts_the_form_is_all_there_is(open_editor: Open) -> None:
    window = open_editor(java_script_enabled=False)
    page = window.page
    for count in (1, 2):
        page.get_by_role("button", name="Add signature").click()
        assert len(window.entered()) == count
        page.locator("summary", has_text="More").click()
        page.locator("[data-field-type=date]").click()
    fields = page.locator("[data-field-id]")
    assert [field.input_value() for field in fields.locator("[name$='-name']").all()] == ["Date", "Date-2"]
    fields.first.get_by_role("button", name="Remove").click()
    assert fields.count() == 1
    page.locator("[data-stamp]").first.get_by_label("X", exact=True).fill("33")
    places = page.url
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/review")
    page.goto(places)
    assert window.entered()[0]["x"] == 33


@pytest.mark.thorough
def test_a_stamp_on_a_target_has_the_size_of_the_room_there(window: Window) -> None:
    """The line has room for a stamp of its own length, the tag on the turned page for the usual size."""
    targets = window.page.evaluate(
        "() => [...document.querySelectorAll('[data-targets]')].map((each) => JSON.parse(each.dataset.targets)[0])"
    )
    (_, _, _, _, line, _, *over_line), (*_, width, height) = targets
    assert over_line[:2] == [pytest.approx(line), 56], "as long as the line"
    assert (width, height) == (160, 56)
