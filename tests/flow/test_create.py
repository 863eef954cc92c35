"""Creation leaves everything or nothing."""

import pytest
from django.db import connection

from paraph.audit_trail.models import Entry
from paraph.flow.sending import create as creating
from paraph.signature_requests.models import Placement, RequestDocument, SignatureRequest, Signer
from paraph.signature_requests.plan import make_plan
from tests.api.v1.api_clients import api_client, error, payload


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("step", ["_signers", "_documents", "_journal", "_invitations"])
def test_a_fault_at_any_step_leaves_nothing(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = api_client()
    content = payload(owner.document(), send_email=True, identity_declaration_accepted=True)
    original = getattr(creating, step)

    def broken(*arguments: object) -> None:
        original(*arguments)
        raise RuntimeError("power cut")

    monkeypatch.setattr(creating, step, broken)
    error(owner.create(content), 500, "internal_error")
    for table in (SignatureRequest, Signer, RequestDocument, Placement, Entry):
        assert not table.objects.exists()


@pytest.mark.django_db
def test_the_files_are_searched_before_the_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = api_client()
    depth: list[int] = []

    def watched(*arguments: object, **named: object) -> object:
        depth.append(len(connection.savepoint_ids))
        return make_plan(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(creating, "make_plan", watched)
    content = payload(owner.document())
    outside = len(connection.savepoint_ids)
    assert owner.create(content).status_code == 201
    assert depth == [outside]
