"""The data folder that a first start of ``paraph serve`` leaves, made once for the run and copied wherever a test needs
a service but not a first start. Its ``initdb``, tables and development authority take half of the time."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

from paraph.postgres import cluster

FOLDER = "PARAPH_TEST_FIRST_START"


def copy(data_dir: Path) -> str:
    """Fill the folder, which may exist and be empty. Return the API key that the first start printed (sandbox,
    enterprise plan)."""
    made = _made()
    cluster.make_location(data_dir, None)
    shutil.copytree(made, data_dir, ignore=shutil.ignore_patterns("postgres", "key", "said"), dirs_exist_ok=True)
    clusters = [cluster.find_location(folder, None).cluster for folder in (made, data_dir)]
    subprocess.run(["cp", "-a", *clusters], check=True)  # keeps its owner, who is another where root runs the tests
    return (made / "key").read_text()


def said() -> str:
    """What the first start printed and logged until it had stopped."""
    return (_made() / "said").read_text()


def _made() -> Path:
    """The folder of the first start, made by the first process of the run that needs it."""
    folder = Path(os.environ[FOLDER])
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "done"
        if not done.exists():
            _remove(folder / "draft")  # left by a first start that failed
            _make(folder / "draft")
            (folder / "draft").rename(done)
    return done


def _make(data_dir: Path) -> None:
    from tests.cli.service import Service  # that module imports this one

    service = Service(data_dir, PARAPH_WEB_PROCESSES="1", PARAPH_WORKER_PROCESSES="1")
    service.start()
    try:
        key = service.first_key()
    finally:
        status = service.stop()
    assert (status, service.processes()) == (0, {}), "".join(service.output)
    (data_dir / "key").write_text(key)
    (data_dir / "said").write_text("".join(service.output))


def remove(folder: Path) -> None:
    """Remove all folders at the end of the run."""
    for data_dir in (folder / "done", folder / "draft"):
        _remove(data_dir)
    shutil.rmtree(folder, ignore_errors=True)


def _remove(data_dir: Path) -> None:
    shutil.rmtree((data_dir / "postgres").resolve(), ignore_errors=True)
    shutil.rmtree(data_dir, ignore_errors=True)
