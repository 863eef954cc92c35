"""A service that does nothing, asked as a load balancer and Prometheus do, opens few sessions of the database."""

import threading
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.cli.service import Service, small_service

pytestmark = pytest.mark.thorough

SECONDS = 60.0
MOST = 12  # in that time: those of scrapes, whose threads rest for longer than a session is kept for them


def test_looks_at_an_idle_service_open_few_sessions(tmp_path: Path) -> None:
    with small_service(tmp_path / "data") as service:
        threads = [
            threading.Thread(target=ask, args=(service, page, every))
            for page, every in (("/readyz", 2.0), ("/metrics", 15.0))
        ]
        before = opened(service)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert opened(service) - before <= MOST


def ask(service: Service, page: str, every: float) -> None:
    waiting = threading.Event()
    for _ in range(int(SECONDS / every)):
        assert httpx.get(f"{service.base_url}{page}", timeout=60).status_code == 200
        waiting.wait(every)


def opened(service: Service) -> int:
    """As PostgreSQL counts them; a session that goes on has told already when it began."""
    url = f"postgresql://paraph@/paraph?host={service.data_dir / 'postgres' / 'run'}"
    with psycopg.connect(url, autocommit=True) as session:
        row = session.execute("SELECT sessions FROM pg_stat_database WHERE datname = 'paraph'").fetchone()
    assert row
    return int(row[0])
