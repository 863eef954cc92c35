"""Prints a table of the classes; ends with 1 when a file is stuck, changed, without its stamp or unverified."""

import argparse
import os
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
from aiosmtpd.controller import Controller
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

import benchmarks.odd_files
from benchmarks.corpus.programs import missing
from benchmarks.odd_files.journey import Client, Journey
from benchmarks.odd_files.judge import complaint
from lab.chaos.world import MailServer
from paraph.keys.development import root_file
from tests.cli.service import Service, free_port, remove
from tests.pdf.odd_files import odd_files

_PATIENCE_SECONDS = 60  # for seals after the last signature


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.odd_files",
        description=benchmarks.odd_files.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--keep", type=Path, help="folder that takes the files that went wrong")
    arguments = parser.parse_args()
    if absent := missing():
        print(absent, file=sys.stderr)
        return 2
    began = time.monotonic()
    journeys = [Journey(name, pdf) for name, pdf in odd_files(arguments.count, arguments.seed)]
    with _service() as (service, mail):
        key = service.new_application(environment="production")["api_key"]
        clients = [Client(service.base_url, key, mail) for _ in range(arguments.clients)]
        _each(journeys, clients, lambda client, number, journey: client.sign(journey, number))
        print(f"{len(journeys)} files were signed or refused within {time.monotonic() - began:.0f} s", flush=True)
        _await_seals(journeys, clients)
        root = x509.load_pem_x509_certificate(root_file(service.data_dir / "keys").read_bytes())
    _judge(journeys, [root.public_bytes(Encoding.DER)])
    print(table(journeys))
    print(f"{time.monotonic() - began:.0f} s, seed {arguments.seed}")
    if arguments.keep:
        _keep([journey for journey in journeys if journey.fault], arguments.keep)
    return int(any(journey.fault for journey in journeys))


@contextmanager
def _service() -> Iterator[tuple[Service, MailServer]]:
    mail, folder = MailServer(), Path(tempfile.mkdtemp(prefix="paraph-odd-"))
    controller = Controller(mail, hostname="127.0.0.1", port=free_port())
    controller.start()
    settings = {"PARAPH_SMTP_URL": f"smtp://127.0.0.1:{controller.port}", "PARAPH_RATE_LIMIT_FACTOR": "1000000"}
    service = Service(folder, **settings)
    try:
        service.start()
        yield service, mail
    finally:
        service.stop()
        controller.stop()
        remove(folder)


def _each(
    journeys: Sequence[Journey], clients: Sequence[Client], work: Callable[[Client, int, Journey], object]
) -> None:
    """Every client takes its share, in a thread of its own."""

    def share(first: int) -> None:
        for number in range(first, len(journeys), len(clients)):
            work(clients[first], number, journeys[number])

    with ThreadPoolExecutor(len(clients)) as pool:
        list(pool.map(share, range(len(clients))))


def _await_seals(journeys: Sequence[Journey], clients: Sequence[Client]) -> None:
    """What is not sealed after so long is stuck: a seal takes less than a second."""
    waiting = [journey for journey in journeys if journey.request and not (journey.fault or journey.refusal)]
    last = time.monotonic()

    def fetch(client: Client, _number: int, journey: Journey) -> None:
        try:
            client.fetch(journey)
        except (httpx.HTTPError, RuntimeError) as error:
            journey.fault = str(error)

    while waiting and time.monotonic() < last + _PATIENCE_SECONDS:
        before = len(waiting)
        _each(waiting, clients, fetch)
        waiting = [journey for journey in waiting if not (journey.sealed or journey.fault)]
        if len(waiting) < before:
            last = time.monotonic()
        time.sleep(0.5)
    for journey in waiting:
        journey.fault = "stuck: signed by everybody and not sealed"


def _judge(journeys: Sequence[Journey], roots: Sequence[bytes]) -> None:
    def judge(journey: Journey) -> None:
        journey.fault = complaint(journey, roots)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(judge, [journey for journey in journeys if journey.sealed]))


def table(journeys: Sequence[Journey]) -> str:
    """What became of each class."""
    classes: dict[str, Counter[str]] = defaultdict(Counter)
    for journey in journeys:
        classes[journey.name][_outcome(journey)] += 1
    lines = []
    for name, outcomes in classes.items():
        told = [f"{count:4} {outcome}" for outcome, count in outcomes.most_common()]
        lines += [f"{name:48}{told[0]}", *(f"{'':48}{more}" for more in told[1:])]
    kinds = Counter(_outcome(journey).partition(":")[0] for journey in journeys)
    lines += ["", *(f"{kind:48}{count:4}" for kind, count in kinds.most_common())]
    return "\n".join(lines)


def _outcome(journey: Journey) -> str:
    if journey.fault:
        return journey.fault
    return f"refused: {journey.refusal}" if journey.refusal else "sealed"


def _keep(journeys: Sequence[Journey], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, journey in enumerate(journeys):
        name = re.sub(r"\W+", "-", journey.name)
        (folder / f"{name}-{number}.pdf").write_bytes(journey.pdf)
        if journey.sealed:
            (folder / f"{name}-{number}-sealed.pdf").write_bytes(journey.sealed)


if __name__ == "__main__":
    sys.exit(main())
