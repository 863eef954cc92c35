"""A service with hundreds of thousands of requests, nearly all of one organization: what a request costs on disk, and
the seconds of what members and operators do.

    python -m benchmarks.scale_real [--made 2000] [--requests 200000] [--small 1000] [--folder FOLDER]

``--made`` requests are really made, every second one with two signers (:mod:`benchmarks.real_requests`); their bytes
are printed. Then they are multiplied (:mod:`benchmarks.copies` says how, and what is not real of a copy): to
``--requests`` of their organization, and to ten of each of ``--small`` others. With ``--requests 0`` none is, and the
bytes are all. With ``--folder``, which needs to be new or left by such a run, the data folder is kept, and a later run
goes on with it.
"""

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks.real_requests import SETTINGS, Maker
from benchmarks.started_service import StartedService
from benchmarks.webhook_receiver import WebhookReceiver

_SPAN = 40  # ids in each table for each request that is made
_RETENTION, _PRESERVATION = 10_000, 1_000
_READS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--made", type=int, default=2_000)
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    with _data_dir(arguments.folder) as data_dir:
        note = data_dir / "scale.json"
        if not note.exists():
            made = _make(data_dir, arguments)
            note.write_text(json.dumps(made))
        if arguments.requests:
            _measure(data_dir, json.loads(note.read_text()))


@contextmanager
def _data_dir(kept: Path | None) -> Iterator[Path]:
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="paraph-scale-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
        shutil.rmtree((Path(folder) / "postgres").resolve(), ignore_errors=True)  # as root, it lies behind a link


def _make(data_dir: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Make the requests, print what they take, and multiply them. Return what :func:`_measure` needs."""
    copies = arguments.requests // arguments.made
    span = _SPAN * arguments.made
    service = StartedService(data_dir, **SETTINGS)
    with WebhookReceiver() as receiver:
        service.start()
        try:
            application = service.new_sandbox_application(receiver.url)
            _set_up(data_dir)
            from django.db import connection, connections

            from benchmarks.copies import leave_room
            from benchmarks.sizes import print_sizes, sizes
            from paraph.signature_requests.models import SignatureRequest

            leave_room(copies + arguments.small, span)
            maker = Maker(service.url, application["api_key"], receiver)
            maker.make(min(10, arguments.made), 1)  # certificates, statuses and the like come with the first ones
            with connection.cursor() as cursor:
                known = sizes(cursor)
                for signers in (1, 2):
                    began = time.perf_counter()
                    count = arguments.made // 2
                    maker.make(count, signers)
                    print(
                        f"\n{count} requests really made, {signers} signers each: {time.perf_counter() - began:.0f} s"
                    )
                    _rest(cursor)
                    known = print_sizes(cursor, count, known)
            organization = SignatureRequest.objects.latest("pk").organization_id
            connections.close_all()
        finally:
            service.pause()
    if arguments.requests:
        _multiply(data_dir, organization, copies, arguments.small, span)
    return {"organization": organization, "requests": arguments.requests}


def _rest(cursor: Any) -> None:
    """Wait until what follows the requests is done: mails, webhooks, events."""
    while True:
        cursor.execute(
            "SELECT FROM procrastinate_jobs WHERE status IN ('todo', 'doing') AND scheduled_at IS NULL LIMIT 1"
        )
        if cursor.fetchone() is None:
            return
        time.sleep(1)


def _multiply(data_dir: Path, organization: int, copies: int, small: int, span: int) -> None:
    from django.db import connection, connections

    from benchmarks.copies import Copy, copy, count_all
    from benchmarks.filling import filling_server, new_crowd
    from benchmarks.sizes import print_sizes, sizes
    from paraph.signature_requests.models import SignatureRequest
    from paraph.tenants.admin_log import OPERATOR
    from paraph.tenants.applications import create_application

    began = time.perf_counter()
    with filling_server(data_dir), connection.cursor() as cursor:
        before = sizes(cursor)
        made = list(SignatureRequest.objects.order_by("pk").values_list("pk", flat=True))
        application = create_application(organization, OPERATOR, environment="production", name="shop").application.pk
        year = [365 * number / copies for number in range(1, copies + 1)]
        large = [Copy(number, organization, application, age) for number, age in enumerate(year, start=1)]
        copy(large, made, span, data_dir / "objects")
        crowd, _key = new_crowd("Small", small, 0)
        others = enumerate(zip(crowd.organizations, crowd.applications, strict=True), start=copies + 1)
        few = [Copy(number, *whose, 365 * (number - copies) / small) for number, whose in others]
        copy(few, made[:10], span, data_dir / "objects")
        count_all(made[0])
        cursor.execute("CHECKPOINT")
        count = SignatureRequest.objects.count() - len(made)
        print(f"\n{count:,} requests multiplied from them: {time.perf_counter() - began:.0f} s")
        print_sizes(cursor, count, before)
        connections.close_all()


def _set_up(data_dir: Path) -> None:
    """Have this process work on the database of the folder."""
    os.environ |= SETTINGS | {"PARAPH_DATA_DIR": str(data_dir), "DJANGO_SETTINGS_MODULE": "paraph.config.settings"}
    import django

    django.setup()


def _measure(data_dir: Path, note: dict[str, Any]) -> None:
    service = StartedService(data_dir, **SETTINGS)
    service.start()
    try:
        _set_up(data_dir)
        organization, requests = note["organization"], note["requests"]
        service.operate("organization", "update", str(organization), "--plan", "enterprise")
        print(f"\n{'seconds':52}{'median':>9}{'longest':>9}", flush=True)
        _reads(service, organization)
        _commands(service, data_dir, organization, requests)
    finally:
        service.pause()


def _reads(service: StartedService, organization: int) -> None:
    from benchmarks.pages import owner_cookies, page_addresses
    from paraph.tenants.admin_log import OPERATOR
    from paraph.tenants.applications import create_application

    addresses = {f"dashboard: {title}": path for title, path in page_addresses(organization).items()}
    for query in ("", "?page=100", "?order=desc"):
        addresses |= {f"GET /{path}{query}": f"/api/v1/{path}{query}" for path in ("signature_requests", "documents")}
    key = create_application(organization, OPERATOR, environment="production", name="reads").api_key
    cookies = {name: each.value for name, each in owner_cookies(organization, "production").items()}
    with httpx.Client(base_url=service.url, timeout=600, cookies=cookies, headers={"X-Api-Key": key}) as client:
        for title, path in addresses.items():
            _shown(title, [_seconds(lambda path=path: client.get(path).raise_for_status()) for _ in range(_READS)])


def _commands(service: StartedService, data_dir: Path, organization: int, requests: int) -> None:
    from paraph.evidence.models import ProofFile, SealedDocument
    from paraph.flow.sealing.preserve import preserve_due
    from paraph.kernel import clock
    from paraph.signature_requests.models import Signer

    def command(name: str, *arguments: str) -> Any:
        told: list[Any] = []
        _shown(f"paraph {name}", [_seconds(lambda: told.append(service.operate(*name.split(), *arguments)))])
        return told[0]

    for _ in range(2):
        _shown("paraph check", [_seconds(lambda: _check(service))])
    email = Signer.objects.latest("pk").email  # whose request was really made: handwriting of copies cannot be opened
    command("person show", email)
    _copies(command, data_dir)
    now, each = clock.now(), _PRESERVATION // 2
    for model in (SealedDocument, ProofFile):
        due = model.objects.order_by("pk").values("pk")[:each]
        model.objects.filter(pk__in=list(due.values_list("pk", flat=True))).update(timestamp_due_at=now)
    made = 0

    def preserve() -> None:
        nonlocal made
        while some := preserve_due():
            made += some

    _shown(f"preservation of {_PRESERVATION:,} files", [_seconds(preserve)])
    print(f"    {made:,} timestamps by this process, others by the workers")
    days = int(365 * max(1 - _RETENTION / requests, 0.5))
    service.operate(
        "retention", "set", "--organization", str(organization), "--environment", "production", "--days", str(days)
    )
    print(f"    {command('retention apply')['requests']:,} requests lost their files, those older than {days} days")


def _copies(command: Any, data_dir: Path) -> None:
    """Export and import, and backup and restore where the disk has room for both."""
    folder = data_dir.with_name(f"{data_dir.name}-copies")
    objects = sum(file.stat().st_size for file in (data_dir / "objects").rglob("*") if file.is_file())
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        kinds = [("export", "import")]
        if shutil.disk_usage(folder).free > 2.5 * objects:
            kinds.append(("backup", "restore"))
        else:
            print(f"    no backup: the disk has no room for twice the {objects / 1e9:.1f} GB of objects")
        for there, back in kinds:
            file = folder / f"paraph.{there}"
            command(there, "--out", str(file))
            print(f"    {file.stat().st_size / 1e9:.2f} GB")
            restored = StartedService(_beside(folder / back, data_dir), **SETTINGS)
            _shown(f"paraph {back}", [_seconds(lambda file=file, to=restored, back=back: to.operate(back, str(file)))])
            restored.stop()
            shutil.rmtree(folder / back)
    finally:
        shutil.rmtree(folder)


def _beside(folder: Path, data_dir: Path) -> Path:
    """A new data folder with the secret of another."""
    folder.mkdir()
    shutil.copy(data_dir / "secret.key", folder)
    return folder


def _check(service: StartedService) -> None:
    """``paraph check`` may warn."""
    try:
        service.operate("check")
    except RuntimeError as warned:
        if str(warned):
            raise


def _seconds(thing: Any) -> float:
    began = time.perf_counter()
    thing()
    return time.perf_counter() - began


def _shown(name: str, seconds: list[float]) -> None:
    print(f"{name:52}{statistics.median(seconds):9.3f}{max(seconds):9.3f}", flush=True)


if __name__ == "__main__":
    main()
