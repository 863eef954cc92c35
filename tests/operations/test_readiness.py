"""What load balancers are told."""

from typing import Any

import pytest
from django.test import Client

from paraph.operations.check import readiness, run
from paraph.operations.check.readiness import Kept

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept()
    monkeypatch.setattr("paraph.config.health.KEPT", kept)


def test_ready_though_a_gateway_is_down(client: Client, settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": "smtp://127.0.0.1:1"})
    answer = client.get("/readyz")
    assert answer.status_code == 200
    told = answer.json()
    assert told["ready"] is True
    assert (told["checks"]["database"], told["checks"]["mail"]) == ("ok", "failed")
    assert set(told["checks"].values()) <= {"ok", "warning", "failed"}  # and no sentence


def test_not_ready_without_storage_while_alive(client: Client, settings: Any) -> None:
    folder = settings.DATA_DIR / "objects"
    folder.mkdir(exist_ok=True)
    folder.rename(folder.with_suffix(".away"))
    folder.write_text("")
    try:
        answer = client.get("/readyz")
        assert client.get("/healthz").status_code == 200
    finally:
        folder.unlink()
        folder.with_suffix(".away").rename(folder)
    assert answer.status_code == 503
    assert answer.json()["ready"] is False and answer.json()["checks"]["storage"] == "failed"
    assert str(settings.DATA_DIR) not in answer.content.decode()


def test_an_outcome_is_believed_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    real = run.look

    def counting(checks: Any, seconds: float) -> Any:
        looks.append([check.name for check in checks])
        return real(checks, seconds)

    monkeypatch.setattr(readiness, "look", counting)
    kept = Kept()
    assert kept.readiness() == kept.readiness()
    assert len(looks[0]) == 10 and looks[1] == []
