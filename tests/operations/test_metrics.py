"""``/metrics``: who may read it, and what it says."""

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest
from cryptography import x509
from django.db import connection
from prometheus_client.parser import text_string_to_metric_families

from paraph.audit_trail.journal import Origin
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.finalize import seal
from paraph.flow.signing.sign import send_otp
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.otp.codes import guess
from paraph.otp.guesses import GuessRefusedError
from paraph.otp.models import OneTimeCode
from paraph.pdf.untrusted.sandbox import sandbox_confinement
from paraph.signature_requests.links import token
from tests.cli.service import Service, free_port, name_of
from tests.factories import Scene, sign
from tests.production import Client

pytestmark = pytest.mark.django_db
Configure = Callable[..., None]


def figures(client: Client, **labels: str) -> dict[str, float]:
    answer = client.get("/metrics")
    assert answer.status_code == 200 and answer["Content-Type"].startswith("text/plain; version=0.0.4")
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        for sample in family.samples:
            if labels.items() <= sample.labels.items():
                found[sample.name] = found.get(sample.name, 0.0) + sample.value
    return found


def test_this_machine_may_read_and_nobody_else_without_the_token(client: Client, configured: Configure) -> None:
    assert client.get("/metrics").status_code == 200
    assert client.get("/metrics", REMOTE_ADDR="::1").status_code == 200
    assert client.get("/metrics", REMOTE_ADDR="203.0.113.9").status_code == 403
    for header in ("X-Forwarded-For", "Forwarded", "Via"):
        assert client.get("/metrics", headers={header: "203.0.113.9"}).status_code == 403
    configured(base_url="https://sign.example")
    assert client.get("/metrics").status_code == 403, "every peer of a proxy on this machine is this machine"
    configured(metrics_token="open sesame")
    assert client.get("/metrics").status_code == 403
    for bearer, status in (("open sesam", 403), ("open sesame", 200)):
        far = client.get("/metrics", REMOTE_ADDR="203.0.113.9", headers={"Authorization": f"Bearer {bearer}"})
        assert far.status_code == status


def test_requests_are_told_by_route_and_hold_no_token(client: Client, made: Scene) -> None:
    before = figures(client, route="sign/<str:token>", status="200").get("paraph_requests_total", 0)
    assert client.get(made.url()).status_code == 200
    assert figures(client, route="sign/<str:token>", status="200")["paraph_requests_total"] == before + 1
    assert token(made.signers[0]) not in client.get("/metrics").content.decode()


def test_each_kind_of_job_is_counted_as_far_as_that_costs_little(client: Client) -> None:
    defer = (
        "INSERT INTO procrastinate_jobs (queue_name, task_name, status) SELECT %s, %s, %s FROM generate_series(1, %s)"
    )
    kinds = ("mail", "a.many", "todo", 10_001), ("mail", "a.few", "todo", 2), ("default", "a.few", "failed", 1)
    with connection.cursor() as cursor:
        for kind in kinds:
            cursor.execute(defer, kind)
    told = [figures(client, queue=queue, task=task.removeprefix("a."), state=state) for queue, task, state, _ in kinds]
    assert [each["paraph_jobs"] for each in told] == [10_000, 2, 1]


def test_jobs_seals_and_stages(client: Client, made: Scene) -> None:
    sign(made)
    waiting = figures(client, task="finalize", state="todo", queue="default")
    assert waiting["paraph_jobs"] == 1
    before = figures(client, file="document", method="incremental", level="B-LTA", timestamped="true")
    stages = figures(client, stage="seal").get("paraph_stage_seconds_count", 0)
    seal(made.request_documents[0].pk)
    after = figures(client, file="document", method="incremental", level="B-LTA", timestamped="true")
    assert after["paraph_seals_total"] == before.get("paraph_seals_total", 0) + 1
    assert figures(client, stage="seal")["paraph_stage_seconds_count"] == stages + 1
    everything = figures(client)
    assert everything["paraph_database_up"] == 1
    assert {"paraph_queue_age_seconds", "paraph_workers", "paraph_sealing_failures"} <= set(everything)
    assert "paraph_timestamp_failures_total" in everything


def test_what_the_service_can_run_out_of(client: Client) -> None:
    everything = figures(client)
    assert 0 < everything["paraph_database_connections"] < everything["paraph_database_connections_limit"]
    for folder in ("data", "temporary", "database"):
        assert 0 < figures(client, folder=folder)["paraph_disk_used_ratio"] < 1
    certificate = sealing_context().keys("production").documents.certificate
    end = x509.load_der_x509_certificate(certificate).not_valid_after_utc.timestamp()
    assert figures(client, environment="production")["paraph_certificate_end_seconds"] <= end
    assert figures(client, environment="sandbox")["paraph_certificate_end_seconds"] > clock.now().timestamp()


def test_codes_that_a_gateway_takes_or_refuses(client: Client, configured: Configure, made: Scene) -> None:
    def count(result: str) -> float:
        return figures(client, channel="email", kind="code", result=result).get("paraph_messages_total", 0)

    sent, failed = count("sent"), count("failed")
    send_otp(made.signers[0], "email", Origin())
    configured(smtp_url=f"smtp://127.0.0.1:{free_port()}")
    with pytest.raises(DomainError):
        send_otp(made.signers[0], "email", Origin())
    assert (count("sent"), count("failed")) == (sent + 1, failed + 1)


def test_guesses_at_codes_and_locks(client: Client, made: Scene) -> None:
    def told() -> list[float]:
        return [
            figures(client, result="wrong").get("paraph_guesses_total", 0),
            figures(client)["paraph_signers_locked_total"],
        ]

    before, code = told(), made.code()
    OneTimeCode.objects.update(recent_wrong_guesses=19, recent_end_at=clock.now() + timedelta(hours=1))
    with pytest.raises(GuessRefusedError):
        guess(made.signers[0], f"{(int(code) + 1) % 10**6:06d}")
    assert told() == [each + 1 for each in before]


def test_what_confines_the_readers_is_told_by_measure(client: Client) -> None:
    missing = sandbox_confinement().missing
    for measure in ("namespaces", "Landlock", "seccomp"):
        assert figures(client, measure=measure.lower())["paraph_confinement"] == (measure not in missing)


def test_what_each_process_takes_is_told_by_role_under_the_standard_names(shared_service: Service) -> None:
    """There may be several web processes: whichever answers ``/metrics`` tells of all processes."""
    names = {str(pid): name_of(pid) for pid in shared_service.processes()}
    text = httpx.get(f"{shared_service.base_url}/metrics", timeout=60).text
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    for figure in ("cpu_seconds_total", "resident_memory_bytes", "open_fds", "start_time_seconds"):
        told = [sample for sample in samples if sample.name == f"process_{figure}"]
        assert {sample.labels["role"] for sample in told} == {"web", "worker"}
        assert all(names[sample.labels["pid"]] == f"paraph-{sample.labels['role']}" for sample in told)
        values = [sample.value for sample in told]
        # a process that was forked a moment ago has used less than a tick of the processor
        assert sum(values) > 0 if figure == "cpu_seconds_total" else all(value > 0 for value in values)
    starts = {sample.labels["role"]: sample.value for sample in samples if sample.name == "paraph_process_starts_total"}
    assert starts["web"] >= 1 and starts["worker"] >= 1
