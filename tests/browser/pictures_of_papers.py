"""Pictures of what is sent and sealed: mails, stamps on pages, proofs."""

from pathlib import Path
from typing import Any

import httpx
import pypdfium2

from paraph.words import LOCALES
from tests.browser.world import World, sent, wrong_for
from tests.scenarios.people import sign

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
    for number, message in enumerate((m for m in world.inbox() if m["html"]), 1):
        for width, scheme in ((375, "light"), (700, "light"), (375, "dark")):
            context = browser.new_context(viewport={"width": width, "height": 600}, color_scheme=scheme)
            page = context.new_page()
            page.set_content(message["html"])
            page.screenshot(path=folder / f"mail-{number}.{width}-{scheme}.png", full_page=True)


def stamps(world: World, browser: Any, folder: Path) -> None:
    """Typed in each hand, drawn, and in other scripts, with initials; each as it is sealed."""
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
        assert sign(url, wrong_for(sent(url)), **body).json()["error"]["code"] == "invalid_otp"
        assert sign(url, **body).status_code == 200
        _pages(_files(world)["certificate_url"], folder / f"proof-{name}")


def _files(world: World) -> dict[str, str]:
    files: dict[str, str] = world.backend.finalized(world.newest)["download_urls"][0]
    return files


def _pages(address: str, stem: Path) -> None:
    document = pypdfium2.PdfDocument(httpx.get(address, timeout=30).content)
    for number, page in enumerate(document, 1):
        page.render(scale=1.6).to_pil().save(f"{stem}.page-{number}.png")
    document.close()
