"""Pictures of ``/operator``. For each state a process of its own serves the page, which is given its latest look at the
service and, in trouble, its waiting work; all else that the page shows is read from the database."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from lab.pictures.dashboard_camera import DASHBOARD_SCREENS, on_each_screen, opened
from tests.browser.world import World
from tests.cli.service import free_port

_STATES = ("well", "known", "trouble", "many")
_NAMES = ("Harbour Homes", "Nordlicht Immobilien GmbH", "Ateliers Müller & Söhne", "Cabinet Dupont", "Città Servizi")


def operators(world: World, browser: Any, folder: Path) -> None:
    for _ in range(3):
        world.asked()
    for state in _STATES:
        with _stage(world, state) as (address, cookie):
            context = browser.new_context(**DASHBOARD_SCREENS["desk"], reduced_motion="reduce")
            context.add_cookies([{"name": "session", "value": cookie, "url": address}])
            with opened(context, f"{address}/operator") as page:
                on_each_screen(page, folder, f"operator-{state}")
                if state == "many":
                    page.locator("#organizations ~ .table th a").first.click()
                    on_each_screen(page, folder, "operator-organization")
                    page.set_extra_http_headers({"Accept-Language": "de"})
                    page.goto(f"{address}/operator")
                    on_each_screen(page, folder, "operator-german")
            context.close()


@contextmanager
def _stage(world: World, state: str) -> Iterator[tuple[str, str]]:
    """Yield the address of a process in this state, and a cookie of an operator."""
    port = free_port()
    command = [sys.executable, "-m", "lab.pictures.operators", state, str(port)]
    environment = {**os.environ, "PARAPH_DATA_DIR": str(world.data_dir)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        cookie = process.stdout.readline().strip()
        yield f"http://127.0.0.1:{port}", cookie
        process.terminate()


class _Handler(WSGIRequestHandler):
    timeout = 1  # s: browsers open connections that they may not use, and one is answered at a time


def _serve(state: str, port: int) -> None:
    from paraph.cli.session import set_up

    set_up(tasks=True)
    from paraph.dashboard import operator_pages
    from paraph.dashboard.operator_pages import LATEST, Work
    from paraph.kernel import clock
    from paraph.server.wsgi import application

    latest: Any = LATEST
    latest.look = lambda: _look(state)
    if state == "trouble":
        waiting = {"mails": Work(14, clock.now() - timedelta(minutes=47)), "seals": Work(3, clock.now(), gave_up=2)}
        vars(operator_pages)["work"] = lambda: {**waiting, "bulk sends": Work(), "upkeep": Work()}
    _furnish(state)
    with make_server("127.0.0.1", port, application, handler_class=_Handler) as server:
        sys.stdout.write(f"{_operators_cookie()}\n")
        sys.stdout.flush()
        server.serve_forever()


def _operators_cookie() -> str:
    from allauth.account.internal.flows.login import record_authentication
    from allauth.mfa.models import Authenticator
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.test import RequestFactory

    from paraph.dashboard.account.sessions import SessionStore, cookie_of
    from paraph.operations.people import add_operator
    from paraph.tenants.admin_log import OPERATOR

    user = add_operator(OPERATOR, "olga@operators.example")
    Authenticator.objects.get_or_create(user=user, type=Authenticator.Type.TOTP, defaults={"data": {}})
    request = RequestFactory().get("/")
    request.session = SessionStore()
    request.session[SESSION_KEY] = str(user.pk)
    request.session[BACKEND_SESSION_KEY] = "allauth.account.auth_backends.AuthenticationBackend"
    request.session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    record_authentication(request, user, "mfa", type="totp")
    request.session.save()
    return cookie_of(str(request.session.session_key))


def _look(state: str) -> Any:
    from paraph.dashboard.operator_pages import Look
    from paraph.kernel import clock
    from paraph.operations.check.outcome import failed, ok, warning

    now = clock.now()
    fine = [
        ok("PostgreSQL 18.0 answers in 1 ms; its tables are those of this version.", "database"),
        ok("This machine's clock and the database's agree within 0.1 s.", "clock"),
        ok("An object was stored, read and deleted in 0.02 s.", "storage"),
        ok("Example TSA gives verified timestamps in 0.21 s.", "timestamp https://tsa.example.com"),
        ok("The mail server takes the account.", "mail"),
    ]
    known = [
        warning("The disk of /var/lib/paraph is 91 % full: docs/faults.md says what to do.", "disk"),
        warning(f"The newest backup without problems is of {now - timedelta(days=9):%Y-%m-%dT%H:%MZ}.", "backup"),
    ]
    wrong = [
        failed("No worker is alive, and 214 due jobs wait: start paraph worker or paraph serve.", "workers"),
        failed("The key of /etc/paraph/seal.p12 does not open: its passphrase is wrong.", "sealing"),
    ]
    ends = {"production": now + timedelta(days=412), "sandbox": now + timedelta(days=900)}
    ends["timestamp"] = now + timedelta(days=12 if state == "trouble" else 700)
    said = {"known": [*known, *fine], "trouble": [*wrong, *known, *fine]}.get(state, fine)
    return Look(now - timedelta(seconds=12), said, ends)


def _furnish(state: str) -> None:
    from paraph.evidence import failures
    from paraph.evidence.models import Backup
    from paraph.kernel import clock
    from paraph.kernel.errors import DomainError
    from paraph.signature_requests.models import SignatureRequest
    from paraph.tenants.admin_log import OPERATOR
    from paraph.tenants.lifecycle import suspend_organization
    from paraph.tenants.models import Organization, Storage

    now = clock.now()
    if state == "well":
        Backup.objects.create(as_of=now - timedelta(hours=7), problems=0)
    if state == "trouble":
        key = DomainError("configuration", "The key of /etc/paraph/seal.p12 does not open: its passphrase is wrong.")
        for number, row in enumerate(SignatureRequest.objects.order_by("pk")[:3]):
            failures.note(row.pk, "seal", key if number < 2 else OSError("the store is away"))
    if state == "many":
        for number in range(60):
            name = f"{_NAMES[number % len(_NAMES)]}{f' {number}' if number >= len(_NAMES) else ''}"
            made = Organization.objects.create(name=name, plan=("pro", "enterprise", "free")[number % 3])
            size = {"bytes": (60 - number) ** 3 * 90_000}
            Storage.objects.create(organization=made, environment="production", **size)
            if number % 9 == 4:
                suspend_organization(OPERATOR, made.pk)


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
