"""Whether a service starts on a kernel that cannot confine all, and what it says of that."""

from typing import Any

import pytest

from paraph.confinement import Confinement
from paraph.kernel.errors import DomainError
from paraph.operations.check import machine as confinement_check
from paraph.operations.check.machine import confinement
from paraph.operations.check.service_checks import require_start


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("missing", "best", "strict"),
    [
        ({}, "ok", "ok"),
        ({"namespaces": "Operation not permitted"}, "ok", "failed"),
        ({"namespaces": "a", "Landlock": "b"}, "warning", "failed"),
        ({"seccomp": "c"}, "warning", "failed"),
    ],
)
def test_confinement_by_what_the_kernel_offers(
    settings: Any, monkeypatch: pytest.MonkeyPatch, missing: dict[str, str], best: str, strict: str
) -> None:
    monkeypatch.setattr(confinement_check, "sandbox_confinement", lambda: Confinement(missing))
    assert [outcome.status for outcome in confinement()] == [best]
    settings.PARAPH = settings.PARAPH.model_copy(update={"confinement": "strict"})
    assert [outcome.status for outcome in confinement()] == [strict]
    if strict == "failed":
        with pytest.raises(DomainError) as refused:
            require_start()
        assert "PARAPH_CONFINEMENT is strict" in refused.value.message
