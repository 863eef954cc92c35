"""Pictures of what is sent and sealed: mails, stamps on pages, the proof."""

from pathlib import Path
from typing import Any

import httpx
import pypdfium2

from tests.browser.world import World
from tests.scenarios.people import sign

_STROKES = [[[0.08, 0.2], [0.2, 0.05], [0.28, 0.22], [0.4, 0.08], [0.52, 0.2], [0.7, 0.07], [0.92, 0.14]]]
_DRAWN = {"type": "drawn", "strokes": _STROKES}


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


def stamps_and_proof(world: World, browser: Any, folder: Path) -> None:
    """Typed in each hand, drawn, with initials; then the proof with its journal."""
    for name, signature in {
        "drawn": _DRAWN,
        **{f"hand-{n}": {"type": "typed", "hand": n} for n in range(1, 5)},
    }.items():
        url = world.asked(initials_required=True)[0]
        initials = _DRAWN if name == "drawn" else {"type": "typed"}
        assert sign(url, signature=signature, initials=initials).status_code == 200
        files = world.backend.finalized(world.newest)["download_urls"][0]
        wanted = {"signed": files["signed_url"], "proof": files["certificate_url"]}
        for kind, address in wanted.items():
            if kind == "signed" or name == "drawn":
                _pages(httpx.get(address, timeout=30).content, folder / f"{kind}-{name}")


def _pages(pdf: bytes, stem: Path) -> None:
    document = pypdfium2.PdfDocument(pdf)
    for number, page in enumerate(document, 1):
        page.render(scale=1.6).to_pil().save(f"{stem}.page-{number}.png")
    document.close()
