"""Pictures of what a sender sees of messages that were refused for good, on a phone and at a desk."""

import tempfile
from pathlib import Path
from typing import Any

import psycopg
from aiosmtpd.controller import Controller

from lab.pictures.dashboard_camera import opened, picture, shot, windows
from paraph.postgres import embedded_url
from tests.browser.world import World, until
from tests.cli.service import free_port, remove
from tests.dashboard.served_pages import served_pages
from tests.refusing import NO_SUCH_USER, RefusingServer

_REFUSED = "SELECT count(*) FROM signature_requests_signer WHERE request_id = %s AND undelivered IS NOT NULL"
_REFUSING = ("ada@example.com", "new@example.com")


def refused(_world: World, browser: Any, folder: Path) -> None:
    """Take pictures in a service of its own, whose mail server refuses a signer and an invited member."""
    server = RefusingServer()
    server.recipients = dict.fromkeys(_REFUSING, NO_SUCH_USER)
    mail = Controller(server, hostname="127.0.0.1", port=free_port())
    data = Path(tempfile.mkdtemp(prefix="paraph-refused-")) / "data"
    own = World(data)
    own.environment["PARAPH_SMTP_URL"] = f"smtp://127.0.0.1:{mail.port}"
    mail.start()
    try:
        own.start()
        _pictures(own, browser, folder)
    finally:
        own.stop()
        mail.stop()
        remove(data)


def _pictures(own: World, browser: Any, folder: Path) -> None:
    pages = served_pages(own)
    request_id = pages.addresses["request"].rstrip("/").rpartition("/")[2]
    with psycopg.connect(embedded_url(own.data_dir, None), autocommit=True) as database:
        until(lambda: database.execute(_REFUSED, [request_id]).fetchone() == (1,))
    for screen, context in windows(browser):
        context.add_cookies(pages.cookies)
        for name in ("request", "home", "members"):
            picture(context, pages.addresses[name], folder, f"refused-{name}", screen)
        with opened(context, pages.addresses["request"]) as page:
            page.locator(".line .menu summary").first.click()
            shot(page, folder, "refused-request-actions", screen)
