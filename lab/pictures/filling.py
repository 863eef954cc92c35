"""Pictures of the step «Fill in»: fields of every type, empty, wrong, filled in and set by others."""

from pathlib import Path
from typing import Any

from lab.pictures.camera import SCREENS, opened, picture
from tests.browser.world import World
from tests.scenarios.people import at, sign, signer

_BEFORE = [
    {"type": "text", "name": "landlord", "label": "Landlord's bank"},
    {"type": "number", "name": "deposit", "label": "Deposit in euros"},
]
_FIELDS: list[dict[str, Any]] = [
    {"type": "text", "name": "iban", "label": "Your IBAN", "max_length": 34},
    {"type": "number", "name": "rent", "label": "Rent in euros", "minimum": 100, "maximum": 5000},
    {"type": "date", "name": "begin", "label": "Begin of the lease", "minimum": "2026-01-01"},
    {"type": "choice", "name": "floor", "label": "Floor", "options": ["Ground floor", "一階", "الطابق الأول"]},
    {"type": "checkbox", "name": "rules", "label": "I have read the rules of the house"},
    {"type": "checkbox", "name": "cat", "label": "I keep a cat", "required": False},
    {"type": "multiline", "name": "notes", "label": "What is broken", "required": False},
    {"type": "text", "name": "flat", "label": "Flat", "value": "4b, 2nd floor", "read_only": True},
    {"type": "signed_on", "name": "day"},
    {"type": "full_name", "name": "name"},
    {"type": "email", "name": "mail"},
]
_WRONG = {"rent": "6.000,50", "iban": "x" * 40}
_RIGHT = {"iban": "DE02 1203 0000 0000 2020 51", "rent": "1.250,50", "notes": "窓が閉まらない\nالباب لا يُغلق"}  # noqa: RUF001


def filling(world: World, browser: Any, folder: Path) -> None:
    """The step on every screen, for the second of two signers in a sequence."""
    for screen in SCREENS:
        page = opened(browser, asked(world), screen)
        picture(page, folder, "fill-1-read", screen, whole=False)
        page.locator(".bar a.primary").click()
        picture(page, folder, "fill-2-empty", screen)
        _enter(page, _WRONG)
        page.locator("[data-continue]").click()
        picture(page, folder, "fill-3-wrong", screen)
        _enter(page, _RIGHT)
        _field(page, "begin").fill("2026-05-01")
        _field(page, "floor").select_option(index=2)
        _field(page, "rules").check()
        picture(page, folder, "fill-4-filled", screen)
        page.locator("[data-continue]").click()
        page.locator("#sign h1").wait_for()
        page.locator("#sign [href='#confirm']").click()
        picture(page, folder, "fill-5-confirm", screen)
        page.locator(".steps a[href='#read']").click()
        picture(page, folder, "fill-6-read", screen)


def asked(world: World) -> str:
    """Return the address of the second signer, who fills in fields after the first has."""
    document = world.document(1)
    people = [signer("anna", "Anna", order=1), signer("zoe", order=2)]
    placed = [
        {"signer_ref": "anna", "stamps": [at(1, 316, 60)], "fields": _placed(_BEFORE, 330)},
        {"signer_ref": "zoe", "stamps": [at(1, 72, 60)], "fields": _placed(_FIELDS, 72)},
    ]
    content = {
        "mode": "sequential",
        "validity_days": 30,
        "identity_declaration_accepted": True,
        "signers": people,
        "documents": [{"id": document, "signers": placed}],
    }
    answer = world.backend.call("POST", "signature_requests", json={"signature_request": content})
    assert answer.status_code == 201, answer.text
    first, second = (str(each["signing_url"]) for each in answer.json()["signers"])
    entered = [
        {"document_id": document, "name": "landlord", "value": "Harbour Bank"},
        {"document_id": document, "name": "deposit", "value": "3751.5"},
    ]
    signed = sign(first, fields=entered)
    assert signed.status_code == 200, signed.text
    return second


def _placed(fields: list[dict[str, Any]], x: float) -> list[dict[str, Any]]:
    """Return the fields with their places, one under the other."""
    found, y = [], 690.0
    for field in fields:
        height = {"multiline": 50, "checkbox": 12}.get(field["type"], 18)
        y -= height + 14
        place = {"page_number": 1, "x": x, "y": y, "width": 12 if field["type"] == "checkbox" else 200}
        found.append(field | {"placement": {"type": "coordinates", "value": place | {"height": height}}})
    return found


def _field(page: Any, name: str) -> Any:
    return page.locator(f'[name^="field-"][name$="-{name}"]')


def _enter(page: Any, values: dict[str, str]) -> None:
    for name, value in values.items():
        _field(page, name).fill(value)
