"""Two hosts, each with a web server, workers and a data folder of its own; and what they share, as an operator of
several hosts would have it: Debian's PostgreSQL, a bucket, a mail server, a timestamp authority and a balancer."""

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.chaos.world import World, world
from lab.hosts.balancer import Balancer, balancer
from lab.hosts.machine import Machine
from lab.hosts.network import CENTRE, make_network
from tests.attacks.front import certified
from tests.cli.own_postgresql import OwnPostgresql
from tests.cli.service import Service, free_port
from tests.keys.certified_keys import make_key, make_root
from tests.keys.odd_chains import pkcs8
from tests.storage.s3_server import s3_server, variables


@dataclass(frozen=True)
class Place:
    """``operator`` runs commands on a machine that serves nothing."""

    url: str
    around: World
    operator: Service
    balancer: Balancer
    machines: list[Machine]
    database: str


@contextmanager
def place(folder: Path, workers: int) -> Iterator[Place]:
    """Yield the place once everything runs and both hosts can serve. ``workers``: how many each host has."""
    make_network()
    with ExitStack() as stack:
        database = OwnPostgresql(CENTRE)
        database.create()
        stack.callback(database.remove)
        around = stack.enter_context(world(folder, CENTRE))
        port, certificate = free_port(), certified(folder)
        os.environ["SSL_CERT_FILE"] = str(certificate)  # clients trust it
        settings = around.settings | _bucket(stack) | _key(folder) | _settings(database, port)
        operator = Service(folder / "operator", **settings)
        done = operator.run("migrate")
        assert done.returncode == 0, done.stderr
        machines = [Machine(name, number, folder, settings, workers) for number, name in enumerate(("one", "two"))]
        for machine in machines:
            stack.callback(machine.host.kill)
            machine.start()
        for machine in machines:
            machine.wait()
        hosts = [machine.host for machine in machines]
        front = stack.enter_context(balancer(folder, port, folder / "both.pem", hosts))
        yield Place(f"https://localhost:{port}", around, operator, front, machines, database.url)


def _bucket(stack: ExitStack) -> dict[str, str]:
    return {"PARAPH_STORAGE_URL": "s3://bucket/paraph", **variables(stack.enter_context(s3_server(CENTRE)))}


def _key(folder: Path) -> dict[str, str]:
    key = make_key("p-256")
    (folder / "seal.pem").write_bytes(pkcs8(key))
    chain = make_root().chain(folder, key.public_key())
    return {"PARAPH_SEALING_KEY": str(folder / "seal.pem"), "PARAPH_SEALING_CERTIFICATE": str(chain)}


def _settings(database: OwnPostgresql, port: int) -> dict[str, str]:
    return {
        "DATABASE_URL": database.url,
        "PARAPH_SECRET_KEY": secrets.token_hex(32),
        "PARAPH_BASE_URL": f"https://localhost:{port}",
        "PARAPH_TRUSTED_PROXIES": CENTRE,
        "PARAPH_ALLOW_PRIVATE_ADDRESSES": "true",
        "PARAPH_RATE_LIMIT_FACTOR": "100",
        "PARAPH_WEB_PROCESSES": "1",
    }
