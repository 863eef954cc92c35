"""Each part is checked by using it, and a broken one is named."""

import smtplib
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import AuthResult
from cryptography import x509
from django.db import connection
from procrastinate.contrib.django import app
from structlog.testing import capture_logs

from paraph.database.migrations import migrate
from paraph.evidence.failures import noted
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.keys import development_authority
from paraph.messaging.email import check_gateway
from paraph.operations.check.backlog import queue, unsealed, webhooks
from paraph.operations.check.database import database
from paraph.operations.check.outcome import Outcome, compare_clocks
from paraph.operations.check.sealing import sandbox_sealing, sealing, timestamps
from paraph.operations.check.service_checks import CHECKS, ServiceCheck, require_start, run_checks, run_lines
from paraph.operations.check.surroundings import mail_gateway, object_store, sms_gateway
from paraph.operations.pending_work import queue_state
from paraph.pdf.timestamps.authorities import BuiltInAuthority
from tests.cli.service import free_port
from tests.factories import scene, sign
from tests.keys.certified_keys import make_key, make_root
from tests.keys.odd_chains import CHAINS, pkcs8
from tests.loopback import mail_server, send
from tests.pdf.timestamps.test_authorities import REPLY, server

pytestmark = pytest.mark.django_db
Configure = Callable[..., None]


def statuses(look: Callable[[], Outcome | Iterable[Outcome]]) -> dict[str, str]:
    [check] = [each for each in CHECKS if each.perform is look]
    return {outcome.name: outcome.status.value for outcome in check.outcomes()}


def test_a_database_of_this_version_and_one_that_lacks_a_migration() -> None:
    assert statuses(database) == {"database": "ok", "clock": "ok"}
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'webhooks'")
    outcome = next(database())
    assert outcome.status == "failed" and outcome.sentence.endswith("run paraph migrate.")


def test_tables_of_a_newer_version_are_refused_unless_they_are_wanted() -> None:
    refused = r"^database: The database belongs to a newer Paraph: it has journal\.9999_later\.$"
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('journal', '9999_later', now())")
        with pytest.raises(DomainError, match=refused):
            migrate()
        with capture_logs() as lines:
            assert migrate(newer_tables=True) == 0
        assert [line["event"] for line in lines] == ["going on with the tables of a newer version"]
        # Tables that lack a migration of this version are not those of a newer one.
        cursor.execute("DELETE FROM django_migrations WHERE app = 'webhooks'")
        with pytest.raises(DomainError, match=refused):
            migrate(newer_tables=True)


@pytest.mark.parametrize(("seconds", "status"), [(1, "ok"), (20, "warning"), (-20, "warning"), (3600, "failed")])
def test_clocks_that_differ(seconds: int, status: str) -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    assert compare_clocks("clock", "another", now + timedelta(seconds=seconds), now).status == status


def test_the_store_is_written_read_and_left_empty(settings: Any) -> None:
    assert statuses(object_store) == {"storage": "ok"}
    assert list((settings.DATA_DIR / "objects" / "check").iterdir()) == []


def test_a_store_that_takes_nothing(store_away: Path) -> None:
    outcome = object_store()
    assert outcome.status == "failed" and str(store_away) in outcome.sentence


def test_all_that_is_to_be_known_of_a_key_is_told_its_end_first(configured: Configure, tmp_path: Path) -> None:
    key, dead = make_key("p-256"), f"http://127.0.0.1:{free_port()}/"
    (tmp_path / "key.pem").write_bytes(pkcs8(key))
    chain = make_root().chain(tmp_path, key.public_key(), days=10)
    configured(
        sealing_key=str(tmp_path / "key.pem"),
        sealing_certificate=chain,
        timestamp_authorities=[dead],
        timestamp_roots=tmp_path / "chain.pem",
    )
    outcome = sealing()
    assert outcome.status == "warning"
    end = clock.iso(x509.load_pem_x509_certificates(chain.read_bytes())[1].not_valid_after_utc)
    parts = [f"The key's certificate counts until {end}", "It has no timestamp.", dead, "The level is not B-LTA."]
    places = [outcome.sentence.find(part) for part in parts]
    assert -1 not in places and places == sorted(places), outcome.sentence
    assert outcome.sentence.count(dead) == 1


def test_a_missing_issuer_is_named_and_the_level_is_what_the_file_proves(configured: Configure, tmp_path: Path) -> None:
    address, certificates = CHAINS["issuer missing"]().write(tmp_path)
    configured(sealing_key=str(address), sealing_certificate=certificates)
    outcome = sealing()
    assert outcome.status == "warning" and "verified at the level B-T in" in outcome.sentence
    missing = 'The issuer "CN=Middle,O=Acme Trust,C=DE" of "Seal" is missing'
    assert outcome.sentence.endswith(f"{missing} in {certificates}. The level is not B-LTA.")


@pytest.mark.parametrize("kind", ["PSS, restricted to SHA-384", "PSS, restricted to SHA-256", "for servers"])
def test_what_the_first_seal_shows_of_a_certificate_names_the_file(
    kind: str, configured: Configure, tmp_path: Path
) -> None:
    odd = CHAINS[kind]()
    address, certificates = odd.write(tmp_path)
    configured(sealing_key=str(address), sealing_certificate=certificates)
    outcome = sealing()
    assert (outcome.status == "failed") == (odd.fate == "refused"), outcome.sentence
    if odd.fate == "refused":
        assert str(certificates) in outcome.sentence and odd.reason in outcome.sentence


def test_a_missing_key_is_named_by_its_own_settings_and_the_other_one_seals(
    configured: Configure, tmp_path: Path
) -> None:
    chain = make_root().chain(tmp_path, make_key("p-256").public_key())
    configured(sandbox_sealing_key="pkcs11:object=seal", sandbox_sealing_certificate=chain)
    outcome = sandbox_sealing()
    assert outcome.status == "failed"
    assert outcome.sentence.startswith("PARAPH_SANDBOX_SEALING_KEY is no address of a PKCS#11 key")
    outcome = sealing()
    assert outcome.status == "warning" and "timestamped and verified at the level B-LTA in" in outcome.sentence
    assert "development key" in outcome.sentence
    with pytest.raises(DomainError, match="PARAPH_SANDBOX_SEALING_KEY"):
        require_start()
    configured(sealing_key=str(tmp_path / "gone.pem"), sandbox_sealing_key="", sandbox_sealing_certificate=None)
    outcome = sealing()
    assert outcome.status == "failed" and "gone.pem" in outcome.sentence
    assert statuses(sandbox_sealing) == {"sandbox sealing": "ok"}


def test_timestamp_authorities_one_by_one(configured: Configure, tmp_path: Path) -> None:
    development = development_authority(tmp_path, b"s" * 32)
    answerer = BuiltInAuthority(development.timestamp_key)
    dead = f"http://127.0.0.1:{free_port()}/"
    with server(lambda handler, body: send(handler, body=answerer.answer(body), Content_Type=REPLY)) as url:
        roots = next(tmp_path.rglob("root*.pem"))
        configured(timestamp_authorities=[dead, url], timestamp_roots=roots)
        assert statuses(timestamps) == {f"timestamp {dead}": "warning", f"timestamp {url}": "ok", f"clock {url}": "ok"}
        configured(timestamp_authorities=[dead])
        assert statuses(timestamps) == {f"timestamp {dead}": "failed"}
        assert statuses(sealing) == {"sealing": "warning"}  # it seals, and says that there is no timestamp


def test_the_mail_gateway_is_greeted_and_logged_in_to(configured: Configure) -> None:
    assert statuses(mail_gateway) == {"mail": "warning"} and statuses(sms_gateway) == {"sms": "warning"}
    with mail_server(object()) as url:
        configured(smtp_url=url)
        assert statuses(mail_gateway) == {"mail": "ok"}

    def judge(server: object, session: object, envelope: object, mechanism: str, data: Any) -> AuthResult:
        return AuthResult(success=data.password == b"right", handled=False)

    with mail_server(object(), authenticator=judge, auth_require_tls=False) as url:
        configured(smtp_url=url.replace("//", "//ada:right@"))
        assert check_gateway().endswith("takes our greeting and login.")
        configured(smtp_url=url.replace("//", "//ada:wrong-secret@"))
        outcome = mail_gateway()
        assert outcome.status == "failed" and "wrong-secret" not in outcome.sentence
        with pytest.raises(smtplib.SMTPAuthenticationError):
            check_gateway()
    configured(smtp_url=f"smtp://127.0.0.1:{free_port()}")
    assert statuses(mail_gateway) == {"mail": "failed"}


def test_a_public_service_without_gateways_is_told_that_production_is_refused(configured: Configure) -> None:
    configured(base_url="https://sign.example.com")
    assert statuses(mail_gateway) == {"mail": "failed"} and statuses(sms_gateway) == {"sms": "warning"}
    for check, variable in ((mail_gateway, "PARAPH_SMTP_URL"), (sms_gateway, "PARAPH_SMS_URL")):
        outcome = check()
        assert f"set {variable}, or PARAPH_MAIL=captured" in outcome.sentence
    configured(base_url="https://sign.example.com", mail="captured")
    outcome = mail_gateway()
    assert outcome.status == "warning" and "nobody receives the mails in the inbox" in outcome.sentence


def test_workers_and_the_age_of_the_queue() -> None:
    """Before the first job, as right after the tables were made, a missing worker is only a warning."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER SEQUENCE procrastinate_jobs_id_seq RESTART")
    assert statuses(queue) == {"workers": "warning", "queue": "ok"}
    app.configure_task("paraph.flow.jobs.finalize").defer(request_document_id=1)
    app.configure_task("paraph.flow.jobs.finalize", schedule_in={"hours": 1}).defer(request_document_id=2)
    assert statuses(queue) == {"workers": "failed", "queue": "ok"}
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now())")
        for age, status in (("2 minutes", "warning"), ("1 hour", "failed")):
            cursor.execute("UPDATE procrastinate_events SET at = now() - %s::interval", [age])
            assert statuses(queue) == {"workers": "ok", "queue": status}


def test_a_worker_that_stopped_beating_is_dead_and_one_that_lives_beats_once_for_each_queue() -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '30 s')")
        cursor.execute("SELECT nextval('procrastinate_jobs_id_seq')")
        workers, _ = queue()
        sentence = "No worker is alive: start paraph worker or paraph serve."
        assert (workers.status, workers.sentence) == ("failed", sentence)
        cursor.execute("INSERT INTO procrastinate_workers (last_heartbeat) SELECT now() FROM generate_series(1, 4)")
        assert queue_state().workers == 2


def test_requests_that_cannot_be_sealed() -> None:
    assert statuses(webhooks) == {"webhooks": "ok"}
    assert statuses(unsealed) == {"sealing failures": "ok"}
    made = scene()
    sign(made)
    request = made.request
    for hours, status in ((0, "warning"), (2, "failed")):
        request.completed_at = clock.now() - timedelta(hours=hours)
        request.save()
        with pytest.raises(OSError), noted(request.pk, "seal"):
            raise OSError("the disk is full")
        outcome = unsealed()
        assert outcome.status == status
        assert f"paraph request show {request.pk}" in outcome.sentence and "disk is full" in outcome.sentence


def test_a_check_that_breaks_or_hangs_has_failed_and_the_others_go_on() -> None:
    def broken() -> Iterator[Outcome]:
        raise ZeroDivisionError("by zero")

    def hanging() -> Iterator[Outcome]:
        threading.Event().wait(5)
        yield from ()

    looks: dict[str, Any] = {"broken": broken, "hanging": hanging, "storage": object_store}
    checks = [ServiceCheck(name, look, 1) for name, look in looks.items()]
    found = run_checks(checks, seconds=2)  # time enough for the storage to answer on a busy machine
    assert [outcome.name for outcome in found] == list(looks)
    assert [outcome.status for outcome in found] == ["failed", "failed", "ok"]
    assert "by zero" in found[0].sentence and "“hanging” did not end" in found[1].sentence


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("clock", ["clock"]),
        ("queue", ["queue"]),
        ("workers", ["workers", "queue"]),
        ("timestamp", ["timestamp built-in"]),
        ("timestamp built-in", ["timestamp built-in"]),
        ("queue, clock, timestamp", ["clock", "timestamp built-in", "queue"]),
    ],
)
def test_lines_are_chosen_by_their_names(lines: str, told: list[str]) -> None:
    assert [outcome.name for outcome in run_lines(lines.split(", "))] == told


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("line", ["clock of my own", "work"])
def test_what_is_no_line_is_refused(line: str) -> None:
    told = rf"^configuration: There is no line {line}, only database, sessions, .*, clock, queue\.$"
    with pytest.raises(DomainError, match=told):
        run_lines([line])
