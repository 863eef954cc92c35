"""Pictures of what is sent and sealed: mails, stamps on pages, proofs."""

import time
from pathlib import Path
from typing import Any

import httpx
import pypdfium2

from paraph.words import LOCALES
from tests.browser.world import World, until, wrong_for
from tests.pdf.pdf_factory import paper, text
from tests.scenarios.people import at, code_for, sign

People = dict[str, tuple[str, dict[str, str]]]  # language and fields of a signer, by the name of the picture

_STROKES = [[[0.08, 0.2], [0.2, 0.05], [0.28, 0.22], [0.4, 0.08], [0.52, 0.2], [0.7, 0.07], [0.92, 0.14]]]
_DRAWN = {"type": "drawn", "strokes": _STROKES}
_CHINESE = {"first_name": "伟", "last_name": "王"}
_ARAB = {"first_name": "عمر", "last_name": "الخيام"}


def mails(world: World, browser: Any, folder: Path) -> None:
    """Every mail, on a phone, at a desk, and in the dark."""
    for language in ("en", "ar"):
        url = world.asked(language=language, send_email=True, notify_signers_on_completion=True)[0]
        httpx.post(f"{url}/ask", data={"kind": "question", "message": "May I keep two cats?"}, timeout=30)
        assert sign(url, locale=language).status_code == 200
        world.backend.finalized(world.newest)
        world.backend.told(world.newest, "request.completion_notified")
        other = world.asked(language=language, send_email=True, signers=2, mode="parallel")[1]
        for signer in world.backend.read(world.newest)["signers"]:
            path = f"signature_requests/{world.newest}/signers/{signer['id']}/remind"
            until(lambda path=path: world.backend.call("POST", path).status_code == 200)  # once the invitation is out
        until(lambda: sum("reminder" in each["metadata"] for each in world.backend.journal(world.newest)) == 2)
        assert sign(other, locale=language).status_code == 200
        world.withdraw(world.newest, "The price has changed.")
        signed, declining = world.asked(language=language, send_email=True, decline_allowed=True, signers=2)
        assert sign(signed, locale=language).status_code == 200
        assert httpx.post(f"{declining}/decline", json={"reason": "The rent is wrong."}, timeout=30).status_code == 200
    time.sleep(3)  # the last mails are on their way
    for number, message in enumerate((m for m in world.inbox() if m["html"]), 1):
        for width, scheme in ((375, "light"), (700, "light"), (375, "dark")):
            context = browser.new_context(viewport={"width": width, "height": 600}, color_scheme=scheme)
            page = context.new_page()
            page.set_content(message["html"])
            page.screenshot(path=folder / f"mail-{number}.{width}-{scheme}.png", full_page=True)


def stamps(world: World, browser: Any, folder: Path) -> None:
    """Take pictures of sealed stamps with initials: typed in each hand, drawn, and in other scripts."""
    typed = {f"hand-{n}": {"type": "typed", "hand": n} for n in range(1, 5)}
    people: People = {"arabic": ("ar", _ARAB), "chinese": ("en", _CHINESE)}
    for name, signature in {"drawn": _DRAWN, **typed, **{name: {"type": "typed"} for name in people}}.items():
        language, person = people.get(name, ("en", {}))
        url = world.asked(initials_required=True, language=language, more=person)[0]
        initials = _DRAWN if name == "drawn" else {"type": "typed"}
        assert sign(url, signature=signature, initials=initials, locale=language).status_code == 200
        _pages(_files(world)["signed_url"], folder / f"signed-{name}")


def proofs(world: World, browser: Any, folder: Path) -> None:
    """The proof in every language, with its journal, and with a Chinese name."""
    people: People = {language: (language, {}) for language in LOCALES} | {
        "ar": ("ar", _ARAB),
        "chinese-name": ("en", _CHINESE),
    }
    for name, (language, person) in people.items():
        url = world.asked(initials_required=True, language=language, more=person)[0]
        httpx.get(url, timeout=30)
        body: dict[str, Any] = {"signature": _DRAWN, "initials": {"type": "typed"}, "locale": language}
        assert sign(url, wrong_for(code_for(url)), **body).json()["error"]["code"] == "invalid_otp"
        assert sign(url, **body).status_code == 200
        _pages(_files(world)["certificate_url"], folder / f"proof-{name}")


_FIELDS: list[dict[str, Any]] = [
    {"name": "name", "type": "text", "label": "Name on the doorbell"},
    {"name": "rent", "type": "number", "label": "Rent per month"},
    {"name": "begin", "type": "date", "label": "Begin of the lease"},
    {"name": "pets", "type": "checkbox", "label": "I keep pets"},
    {"name": "smoking", "type": "checkbox", "label": "I smoke", "required": False},
    {"name": "keys", "type": "choice", "label": "Keys", "options": ["By post", "بالبريد", "郵送"]},
    {"name": "remarks", "type": "text", "label": "Remarks", "required": False},
    {"name": "day", "type": "signed_on"},
    {"name": "signer", "type": "full_name"},
    {"name": "mail", "type": "email"},
    {"name": "address", "type": "multiline", "label": "Address until now"},
]
_ENTERED = {
    "english": ("en", "Ada Lovelace", "By post", "Unter den Linden 1\n10117 Berlin\nGermany"),
    "arabic": ("ar", "عمر الخيام", "بالبريد", "شارع الملك فهد رقم 12\nمدينة جدة 21442"),
    "japanese": ("en", "山田太郎", "郵送", "〒100-0001\n東京都千代田区千代田一丁目一番地、とても長い住所です"),
}


def values(world: World, browser: Any, folder: Path) -> None:
    """A field of each type as it is sealed, on a form with a frame for each, and the proof that lists the values."""
    document = world.backend.upload(_form(), "Form.pdf")
    for name, (language, who, keys, address) in _ENTERED.items():
        placed = [{**field, "placement": _place(number, field["type"])} for number, field in enumerate(_FIELDS)]
        signer = {"signer_ref": "person-1", "stamps": [at(1, 316, 60)], "fields": placed}
        url = world.asked(language=language, pages=1, documents=[{"id": document, "signers": [signer]}])[0]
        entered = {
            "name": who,
            "rent": "1250.50",
            "begin": "2026-12-01",
            "pets": True,
            "keys": keys,
            "address": address,
        }
        given = [{"document_id": document, "name": field, "value": value} for field, value in entered.items()]
        assert sign(url, locale=language, fields=given).status_code == 200
        _pages(_files(world)["signed_url"], folder / f"values-{name}")
        _pages(_files(world)["certificate_url"], folder / f"values-{name}-proof")


def _form() -> bytes:
    frames = ""
    for number, field in enumerate(_FIELDS):
        place = _place(number, field["type"])["value"]
        frames += text(field.get("label", field["name"]), 60, place["y"] + 4)
        frames += "0.6 G {x} {y} {width} {height} re S\n".format(**place)
    return paper(frames)


def _place(number: int, kind: str) -> dict[str, Any]:
    box = {"width": 12, "height": 12} if kind == "checkbox" else {"width": 190, "height": 18}
    size = {"width": 190, "height": 48} if kind == "multiline" else box
    return {
        "type": "coordinates",
        "value": {"page_number": 1, "x": 220, "y": 740 - 40 * number - (30 if kind == "multiline" else 0), **size},
    }


def _files(world: World) -> dict[str, str]:
    files: dict[str, str] = world.backend.finalized(world.newest)["download_urls"][0]
    return files


def _pages(address: str, stem: Path) -> None:
    document = pypdfium2.PdfDocument(httpx.get(address, timeout=30).content)
    for number, page in enumerate(document, 1):
        page.render(scale=1.6).to_pil().save(f"{stem}.page-{number}.png")
    document.close()
