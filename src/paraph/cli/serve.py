"""``paraph serve``: the whole service on one machine."""

import gc
import http.client
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial

import click
import structlog

from paraph.cli import web, worker
from paraph.cli.options import address_options, data_dir_option, newer_tables_option
from paraph.cli.session import DataFolderLock, log_start, nothing_collected, set_up
from paraph.cli.supervisor import Child, Supervisor, fork
from paraph.kernel.errors import DomainError
from paraph.kernel.settings import Settings, read_settings
from paraph.postgres import Keeper, Server

log = structlog.get_logger("paraph.serve")

_READY_SECONDS = 60
_WEB_GRACE, _WORKER_GRACE = 15, 30
_SPARE_SESSIONS = 40  # operators' commands, migrations, the superuser's reserve


@click.command()
@address_options
@data_dir_option
@newer_tables_option
def command(*, newer_tables: bool) -> None:
    """Run the whole service: database, web server, workers."""
    settings = read_settings()
    lock = DataFolderLock(settings.data_dir)
    lock.take_for_service()
    web.check_address(settings)
    server = None if settings.database_url else _server(settings)
    # The log's method is bound at each call, because logging is configured later.
    keeper = Keeper(server, lambda words: log.warning(words)) if server else None  # noqa: PLW0108
    supervisor = Supervisor(_children(settings), keeper.look if keeper else lambda: None)
    with supervisor.listening():
        try:
            first_key, owner_link = _prepare(server, newer_tables=newer_tables)
            lock.mark_ready()
            supervisor.run(until=_web_server_answers(settings))
            if not supervisor.stopping:
                _greet(settings, first_key, owner_link)
                supervisor.run()
            click.echo("Paraph is stopping.")
        finally:
            supervisor.stop()
            if server:
                server.stop()


def _server(settings: Settings) -> Server:
    web_processes, worker_processes = settings.processes
    sessions = web_processes * settings.sessions_of_web_process + worker_processes * settings.sessions_of_worker
    return Server(settings.data_dir, settings.postgres_dir, sessions + _SPARE_SESSIONS)


def _children(settings: Settings) -> list[Child]:
    _, workers = settings.processes
    drain_seconds = settings.drain_seconds or 0
    return [
        Child("web", partial(web.run, drain_seconds), _WEB_GRACE + drain_seconds),
        *(Child("worker", worker.run, _WORKER_GRACE) for _ in range(workers)),
    ]


def _prepare(server: Server | None, *, newer_tables: bool) -> tuple[str, str]:
    """Import everything while the database starts, then prepare the start in a child process: its connections must
    not be inherited by children forked later. Return the API key of a first start and the link that makes the first
    owner, or ""."""
    if server:
        server.launch()
    set_up(tasks=True)
    log_start("serve")
    with nothing_collected():
        from django.urls import get_resolver

        get_resolver().check()  # imports every view

    gc.freeze()  # garbage collection in the children then leaves the loaded memory shared
    if server:
        server.wait()
    read, write = os.pipe()
    pid = fork("prepare", lambda: os.write(write, json.dumps(_first_steps(newer_tables=newer_tables)).encode()))
    os.close(write)
    with os.fdopen(read) as pipe:
        answer = pipe.read()
    _, status = os.waitpid(pid, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit(1)  # the child has printed the reason
    api_key, owner_link = json.loads(answer)
    return api_key, owner_link


def _first_steps(*, newer_tables: bool) -> tuple[str, str]:
    """Migrate the database, clean up after the last run and check that the service can work. The very first start also
    makes an organization with a sandbox application, and returns its API key; a start without any member returns a
    link that makes the first owner. Raise ``DomainError`` with one sentence about what is missing."""
    from paraph.database.migrations import migrate
    from paraph.metrics import metrics
    from paraph.operations.check.service_checks import require_start
    from paraph.storage import store
    from paraph.tenants.applications import new_application
    from paraph.tenants.members import first_owner_link
    from paraph.tenants.models import Organization
    from paraph.tenants.organizations import UNNAMED

    migrate(newer_tables=newer_tables)
    store.sweep()
    metrics.forget()
    require_start()
    api_key = ""
    if not Organization.objects.exists():
        organization = Organization.objects.create(name=UNNAMED, plan="enterprise")
        api_key = new_application(organization, "sandbox", "First application").api_key
    return api_key, first_owner_link()


def _web_server_answers(settings: Settings) -> Callable[[], bool]:
    """Return a function that says whether the web server answers, and raises ``DomainError`` if it does not in 60 s."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104  compared, not bound
    deadline = time.monotonic() + _READY_SECONDS

    def answers() -> bool:
        connection = http.client.HTTPConnection(host, settings.port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            if connection.getresponse().status == 200:
                return True
        except OSError:
            pass
        finally:
            connection.close()
        if time.monotonic() > deadline:
            raise DomainError("configuration", "The web server is not responding; its log above says why.")
        return False

    return answers


def _greet(settings: Settings, first_key: str, owner_link: str) -> None:
    url = settings.public_url
    if not settings.base_url:  # a passkey belongs to a host name, not to an IP address
        url = url.replace("//127.0.0.1:", "//localhost:", 1)
    click.echo(f"Paraph is ready at {url}")
    if settings.host in ("0.0.0.0", "::") and not settings.base_url:  # noqa: S104  compared, not bound
        click.echo("Set PARAPH_BASE_URL to an address that signers can reach: their links point there.")
    if first_key:
        click.echo(f"\nYour sandbox API key (shown only once):\n\n    {first_key}\n\nTry it:\n")
        click.echo(f'    curl -H "X-Api-Key: {first_key}" {url}/api/v1/health\n')
    if owner_link:
        owner_link = owner_link.replace(settings.public_url, url, 1)
        click.echo(f"\nCreate the owner account (link valid for one hour):\n\n    {owner_link}\n")
    sys.stdout.flush()
