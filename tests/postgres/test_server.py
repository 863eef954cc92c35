"""The embedded server, started and stopped for real."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from paraph.kernel.errors import DomainError
from paraph.postgres import Server, cluster
from paraph.postgres import server as embedded

pytestmark = pytest.mark.thorough


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "data"
    shutil.rmtree((tmp_path / "data" / "postgres").resolve(), ignore_errors=True)  # elsewhere for root


@pytest.fixture(scope="module")
def made_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data folder of a cluster that was made beside an unfinished one, which an earlier start had left."""
    above = tmp_path_factory.mktemp("made")
    above.chmod(0o700)
    data_dir = above / "data"
    data_dir.mkdir(mode=0o750)
    server = Server(data_dir)
    draft = server.location.home / "cluster.new-1234"
    draft.mkdir()
    (draft / "PG_VERSION").write_text(cluster.VERSION)
    server.start()
    server.stop()
    yield data_dir
    shutil.rmtree((data_dir / "postgres").resolve(), ignore_errors=True)


def test_only_its_owner_gets_in_and_folders_above_stay_as_they_are(made_in: Path) -> None:
    location = Server(made_in).location
    assert stat.S_IMODE(made_in.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(made_in.stat().st_mode) == 0o750
    for folder in (location.home, location.sockets, location.cluster):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_cluster_left_half_made_is_made_anew(made_in: Path) -> None:
    assert not (Server(made_in).location.home / "cluster.new-1234").exists()


def test_what_was_written_is_there_after_a_stop_and_after_a_crash_and_the_log_is_bounded(made_in: Path) -> None:
    server = Server(made_in)
    server.start()
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS value")
        told = "SELECT current_setting('fsync'), current_setting('listen_addresses')"
        assert connection.execute(told).fetchone() == ("on", "")
    server.stop()
    assert server.poll() == 0

    server.location.log.write_bytes(b"x" * (9 << 20))
    again = Server(made_in)
    again.start()
    assert again.location.log.stat().st_size < 1 << 20
    with psycopg.connect(again.url) as connection:
        connection.execute("UPDATE kept SET value = 2")
    assert again._process
    again._process.send_signal(signal.SIGKILL)
    again._process.wait()
    again.start()
    with psycopg.connect(again.url) as connection:
        assert connection.execute("SELECT value FROM kept").fetchone() == (2,)
    again.stop()


def test_a_number_in_an_old_lock_file_may_be_anybodys(made_in: Path) -> None:
    server = Server(made_in)
    lock = server.location.cluster / "postmaster.pid"
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        place = server.location
        lock.write_text(f"{bystander.pid}\n{place.cluster}\n1\n5432\n{place.sockets}\n\n  1 1\nready\n")
        server._stop_leftover()
        assert bystander.poll() is None
    finally:
        lock.unlink()
        bystander.kill()
        bystander.wait()


def test_another_versions_cluster_gets_a_sentence(data_dir: Path) -> None:
    server = Server(data_dir)
    server.location.cluster.mkdir()
    (server.location.cluster / "PG_VERSION").write_text("15\n")
    with pytest.raises(DomainError, match=r"is PostgreSQL 15's, and Paraph carries 18"):
        server.start()
    (server.location.cluster / "PG_VERSION").unlink()
    (server.location.cluster / "somebody.txt").write_text("")
    with pytest.raises(DomainError, match="holds something else"):
        server.start()


def test_a_full_disk_gets_a_sentence(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_LEAST_FREE_MB", 1 << 40)
    with pytest.raises(DomainError, match=r"Only \d+ MB are free at "):
        Server(data_dir).start()


def test_a_server_that_does_not_start_says_why(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "tuning", lambda sockets, connections: {"no_such_setting": "1"})
    with pytest.raises(DomainError, match=r"PostgreSQL did not start: .*no_such_setting"):
        Server(data_dir).start()


def test_a_folder_that_cannot_be_made_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DomainError, match=r"cannot be made: .*Not a directory"):
        Server(tmp_path / "file" / "data")


def test_a_closed_virtual_environment_is_copied_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ROOT_HOME", tmp_path)
    monkeypatch.setattr(cluster, "_open_to_others", lambda program: False)
    copied = cluster.programs("somebody")
    assert copied.is_relative_to(tmp_path)
    for program in ("postgres", "initdb", "psql"):  # the last two need libraries that lie elsewhere in the package
        said = subprocess.run([copied / program, "--version"], capture_output=True, text=True, check=True).stdout
        assert f" {cluster.VERSION}." in said
    assert stat.S_IMODE((copied / "initdb").stat().st_mode) == 0o755
    assert cluster.programs("somebody") == copied
    assert len(list(tmp_path.iterdir())) == 1


if os.geteuid() == 0:  # an ordinary user can neither make folders of others nor become one

    def test_a_socket_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
        (tmp_path / "theirs").mkdir()
        os.chown(tmp_path / "theirs", 65534, 65534)
        with pytest.raises(DomainError, match="belongs to another user"):
            cluster._own(tmp_path / "theirs", None)

    def test_an_ordinary_user_keeps_everything_in_the_data_folder() -> None:
        python = open_python()
        folder = Path(tempfile.mkdtemp(prefix="paraph-"))  # pytest's own folders are closed to others
        os.chown(folder, 65534, 65534)
        paths = [path for path in sys.path if path] if python != sys.executable else []
        done = subprocess.run(
            [python, "-B", "-c", START_AND_STOP, str(folder / "data")],
            env={"PYTHONPATH": os.pathsep.join(paths), "HOME": str(folder)},
            user=65534,
            group=65534,
            extra_groups=[],
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert (folder / "data" / "postgres" / "cluster" / "PG_VERSION").exists()
        assert not (folder / "data" / "postgres").is_symlink()
        shutil.rmtree(folder)


def open_python() -> str:
    """A Python of our version that another user may run."""
    system = shutil.which(f"python{sys.version_info.major}.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin")
    for candidate in filter(None, (sys.executable, system)):
        if cluster._open_to_others(Path(candidate)):
            return candidate
    pytest.skip("no Python of this version that an ordinary user may run")


START_AND_STOP = """
import sys
from pathlib import Path
from paraph.postgres import Server
for _ in range(2):
    server = Server(Path(sys.argv[1]))
    server.start()
    server.stop()
"""
