"""``python -m tests.upgrades.make_dump``: keeps a small world of this version for the upgrade tests of later ones.

Into ``tests/upgrades/worlds/<version>`` go ``world.backup.xz``, what ``paraph backup`` wrote while the worker stood
still, and ``facts.json``: what a test must know of it, the commit, and the migrations that it has.
"""

import json
import lzma
import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from paraph import __version__
from paraph.postgres import embedded_url
from tests import first_start
from tests.cli.service import Service, name_of, remove, wait_until
from tests.receiver import receiver
from tests.scenarios.people import Backend, sign, signer

WORLDS = Path(__file__).parent / "worlds"


def make(folder: Path) -> Path:
    """Make the small world in the folder, in place of an earlier one. Return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, receiver() as hooks:
        os.environ[first_start.FOLDER] = place
        service = Service(Path(place, "data"), PARAPH_WEB_PROCESSES="1", PARAPH_WORKER_PROCESSES="1")
        service.start()
        try:
            facts = _world(service, hooks.url())
            service.command("backup", "--out", str(Path(place, "backup")))
            facts["migrations"] = _migrations(service.data_dir)
        finally:
            _workers(service, signal.SIGCONT)
            service.stop()
            remove(service.data_dir)
        head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        facts["commit"] = head.stdout.strip()
        (folder / "world.backup.xz").write_bytes(lzma.compress(Path(place, "backup").read_bytes(), preset=9))
    (folder / "facts.json").write_text(f"{json.dumps(facts, indent=1, ensure_ascii=False)}\n")
    return folder


def _world(service: Service, webhook_url: str) -> dict[str, Any]:
    """Make a finished request, one that waits for its second signer, and two whose jobs and webhooks wait because the
    worker is halted. Return the facts about them."""
    application = service.new_application("enterprise", "sandbox", "--webhook-url", webhook_url)
    member = ["member", "create", "--organization", str(application["organization_id"])]
    service.command(*member, "--email", "olga@example.com", "--role", "owner", "--name", "Olga Owner")
    backend = Backend(service.base_url, application["api_key"])
    finished = _request(backend, ["a"])
    assert sign(finished["signers"][0]["signing_url"]).status_code == 200
    backend.finalized(finished["id"])
    ongoing = _request(backend, ["a", "b"])
    assert sign(ongoing["signers"][0]["signing_url"]).status_code == 200
    wait_until(lambda: not _waiting(service.data_dir))
    _workers(service, signal.SIGSTOP)
    signed, invited = _request(backend, ["a"]), _request(backend, ["a"], send_email=True)
    assert sign(signed["signers"][0]["signing_url"]).status_code == 200
    return {
        "version": __version__,
        "application": application,
        "finished": finished["id"],
        "ongoing": {"id": ongoing["id"], "signing_path": urlsplit(ongoing["signers"][1]["signing_url"]).path},
        "signed": signed["id"],
        "invited": invited["id"],
        "waiting": _waiting(service.data_dir),
    }


def _request(backend: Backend, refs: list[str], **more: Any) -> dict[str, Any]:
    signers = [signer(ref, order=number) for number, ref in enumerate(refs, 1)]
    declared = {"identity_declaration_accepted": True} if more.get("send_email") else {}
    return backend.ask(*refs, mode="sequential", validity_days=30, signers=signers, **more, **declared)


def _workers(service: Service, number: signal.Signals) -> None:
    for pid, command in service.processes().items():
        if name_of(pid) == "paraph-worker" or "paraph-worker" in command:
            os.kill(pid, number)


def _waiting(data_dir: Path) -> dict[str, int]:
    """The number of waiting jobs by task, and of waiting webhooks."""
    with psycopg.connect(embedded_url(data_dir, None)) as connection:
        jobs = "SELECT task_name, count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing') GROUP BY 1"
        found: dict[str, int] = dict(connection.execute(jobs).fetchall())
        row = connection.execute("SELECT count(*) FROM webhooks_delivery WHERE status <> 'delivered'").fetchone()
    return found | ({"webhooks": row[0]} if row and row[0] else {})


def _migrations(data_dir: Path) -> list[str]:
    with psycopg.connect(embedded_url(data_dir, None)) as connection:
        found = connection.execute("SELECT app || '.' || name FROM django_migrations ORDER BY app, name")
        return [name for (name,) in found]


if __name__ == "__main__":
    print(make(WORLDS / __version__))  # noqa: T201  prints the folder
