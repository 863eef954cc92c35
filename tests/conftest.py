"""Fixtures and settings of every test."""

import fcntl
import gc
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import hypothesis
import pytest
from django.core.management import call_command
from django.core.management.commands import flush
from django.core.signals import setting_changed
from django.db import connection, transaction
from django.template.base import Template
from django.test.utils import _TestState
from django.utils import translation
from hypothesis import HealthCheck
from pytest_django import DjangoDbBlocker

from tests import first_start
from tests.cli.service import Service, remove

if TYPE_CHECKING:  # models can be imported once Django is set up
    from tests.drafts.author import Author
    from tests.factories import Scene

# How long an example takes, and how long it takes to make one up, depends on the machine.
hypothesis.settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis.settings.load_profile("untimed")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Ten thousand collected tests live to the end of the run: keep the garbage collector from searching them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run with a skipped test if ``PARAPH_NO_SKIPS`` is set."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = len(reporter.stats.get("skipped", [])) if reporter else 0
    if reporter and skipped and os.environ.get("PARAPH_NO_SKIPS"):
        reporter.write_line(f"\n{skipped} skipped, and PARAPH_NO_SKIPS is set: this run has failed.", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


_EMPTY_ALL_TABLES = """
DO $$
DECLARE name regclass; filled boolean;
BEGIN
    FOR name IN
        SELECT oid FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'django_migrations'
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s)', name) INTO filled;
        IF filled THEN
            EXECUTE format('DELETE FROM %s', name);
        END IF;
    END LOOP;
END $$
"""


_MIGRATED = "paraph_tests"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """Migrate a database in the first process of the run; every process then copies it for its own."""
    folder = Path(os.environ[first_start.FOLDER])
    with (folder / "migrated.lock").open("w") as lock, django_db_blocker.unblock():
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "migrated").exists():
            _migrate()
            (folder / "migrated").touch()
    connection.settings_dict["TEST"] |= {"TEMPLATE": _MIGRATED, "MIGRATE": False}


def _migrate() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {_MIGRATED}")  # left by a process that failed
        cursor.execute(f"CREATE DATABASE {_MIGRATED}")
    connection.close()
    name, connection.settings_dict["NAME"] = connection.settings_dict["NAME"], _MIGRATED
    call_command("migrate", verbosity=0, interactive=False, run_syncdb=True)
    connection.close()  # a database that is in use cannot be copied
    connection.settings_dict["NAME"] = name


@pytest.fixture(autouse=True, scope="session")
def _flush_is_quick_and_may_empty_the_journal() -> None:
    """Transactional tests empty all tables afterwards, those of the queue too; triggers and foreign keys are off for
    that alone. Rows are deleted where there are any: truncating eighty tables takes PostgreSQL as long as many a test.
    Permissions and content types are not written again, as no test reads them."""

    def execute_sql_flush(self: Any, sql_list: Iterable[str]) -> None:
        assert list(sql_list)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(_EMPTY_ALL_TABLES)

    type(connection.ops).execute_sql_flush = execute_sql_flush  # type: ignore[method-assign]
    command: Any = flush
    command.emit_post_migrate_signal = lambda *_, **__: None


@pytest.fixture(autouse=True)
def _no_language_of_another_test() -> Iterator[None]:
    """A request leaves its language in the thread; in production the next request replaces it."""
    yield
    translation.deactivate()


@pytest.fixture(autouse=True, scope="session")
def _templates_are_rendered_as_in_production(django_test_environment: None) -> None:
    """Django's test environment copies the context of each template, which no test here reads."""
    rendering: Any = Template
    state: Any = _TestState
    rendering._render = state.saved_data.template_render


@pytest.fixture(autouse=True, scope="session")
def _clients_read_the_certificates_of_the_machine_once() -> None:
    """Reading two hundred certificates takes longer than most calls of the tests, which go over plain HTTP."""
    transports: Any = httpx._transports.default
    read = cache(lambda _file, **how: httpx.create_ssl_context(**how))
    transports.create_ssl_context = lambda **how: read(os.environ.get("SSL_CERT_FILE"), **how)


@pytest.fixture(autouse=True, scope="session")
def _what_seals_is_made_anew_with_its_settings() -> None:
    """A process keeps what it makes of its data folder and configuration, which only tests exchange."""
    from paraph.flow.sealing.context import sealing_context
    from paraph.metrics import metrics

    metrics.ledger()  # in the folder of the run: the first test that counts may use another folder

    def forget(*, setting: str, **_: Any) -> None:
        if setting in ("DATA_DIR", "PARAPH", "SECRETS"):
            sealing_context.cache_clear()

    setting_changed.connect(forget, weak=False)


@pytest.fixture
def made(db: None) -> "Scene":
    """A request with a document and a signer, ready to sign."""
    from tests.factories import scene

    return scene()


@pytest.fixture
def charles(db: None) -> "Author":
    """A member who sends requests."""
    from tests.drafts.author import author

    return author()


@pytest.fixture
def configured(settings: Any) -> Callable[..., None]:
    """Return a function that changes fields of the settings."""

    def configure(**fields: Any) -> None:
        settings.PARAPH = settings.PARAPH.model_copy(update=fields)

    return configure


@pytest.fixture
def store_away(settings: Any) -> Iterator[Path]:
    """Make the store fail: a file stands in place of its folder, which stops root as well."""
    folder: Path = settings.DATA_DIR / "objects"
    folder.mkdir(exist_ok=True)
    folder.rename(folder.with_suffix(".away"))
    folder.write_text("")
    yield folder
    folder.unlink()
    folder.with_suffix(".away").rename(folder)


@pytest.fixture
def data_dir(settings: Any, tmp_path: Path) -> Path:
    """A data folder of the test's own, without the objects of other tests."""
    settings.DATA_DIR = tmp_path
    return tmp_path


class _Shared(Service):
    memory = 2 << 30  # the embedded database alone maps 1.1 GiB


@pytest.fixture(scope="session")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for all test files of this process that leave it as it was: each makes organizations of its own, and
    limits are so high that none is held up by the others. Two windows without scripts load twelve pictures at once, as
    many as may wait on behalf of one organization. A file that measures a whole service, stops it or leaves traces in
    it starts its own."""
    one = {"PARAPH_WEB_PROCESSES": "1", "PARAPH_WORKER_PROCESSES": "1", "PARAPH_WEB_THREADS": "32"}
    many = {"PARAPH_RATE_LIMIT_FACTOR": "100", "PARAPH_MESSAGES_PER_DESTINATION": "0"}
    many |= {"PARAPH_WRONG_CODES_PER_DESTINATION": "10000", "PARAPH_WRONG_CODES_PER_ORGANIZATION": "10000"}
    service = _Shared(tmp_path_factory.mktemp("shared") / "data", **one, **many)
    service.begin()
    yield service
    service.stop()
    remove(service.data_dir)
