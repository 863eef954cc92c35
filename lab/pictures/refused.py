"""Pictures of what a sender sees of messages that were refused for good, on a phone and at a desk."""

import json
from pathlib import Path
from typing import Any

import psycopg

from lab.pictures.dashboard_camera import opened, picture, shot, windows
from paraph.postgres import embedded_url
from tests.browser.world import World
from tests.dashboard.served_pages import served_pages

_SAID = "550 5.1.1 …: Recipient address rejected: User unknown in virtual mailbox table"
_REFUSE = """
    UPDATE signature_requests_signer SET undelivered = %s::jsonb, status = 'pending', notified_at = NULL
    WHERE request_id = %s AND status <> 'signed' RETURNING email
"""
_PUT_BACK = "UPDATE signature_requests_signer SET undelivered = NULL WHERE request_id = %s"


def refused(world: World, browser: Any, folder: Path) -> None:
    pages = served_pages(world)
    request_id = int(pages.addresses["request"].rstrip("/").rpartition("/")[2])
    facts = {"mail": "invitation-1", "channel": "email", "answer": _SAID, "at": "2026-11-29T16:00:00Z"}
    with psycopg.connect(embedded_url(world.data_dir, None), autocommit=True) as database:
        changed = database.execute(_REFUSE, [json.dumps(facts), request_id]).fetchall()
        assert changed, "a signer of the request has yet to sign"
        for screen, context in windows(browser):
            context.add_cookies(pages.cookies)
            picture(context, pages.addresses["request"], folder, "refused-request", screen)
            picture(context, pages.addresses["home"], folder, "refused-home", screen)
            with opened(context, pages.addresses["request"]) as page:
                page.locator(".line .menu summary").first.click()
                shot(page, folder, "refused-request-actions", screen)
        database.execute(_PUT_BACK, [request_id])
