"""A file that was too complex is refused at once when it comes again."""

from collections.abc import Iterator
from typing import Any

import pytest

from paraph.pdf.untrusted.sandbox import SandboxLimits, configure
from paraph.pdf.untrusted.sandbox_process import SandboxProcess
from tests.api.v1.api_clients import ApiClient, api_client, error
from tests.pdf import hostile

pytestmark = pytest.mark.django_db


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Those that a process was really asked to do."""
    done: list[str] = []
    ask = SandboxProcess.ask

    def noting(self: SandboxProcess, request: dict[str, Any], *rest: Any) -> Any:
        done.append(request["job"])
        return ask(self, request, *rest)

    monkeypatch.setattr(SandboxProcess, "ask", noting)
    configure(2, SandboxLimits(memory=400 << 20))
    yield done
    configure(2)


def test_an_upload(owner: ApiClient, jobs: list[str]) -> None:
    bomb = hostile.inflating(on_page=True)
    for _ in range(3):
        assert "too much memory or time" in error(owner.upload(bomb), 422, "validation_error")
    assert jobs == ["inspect"]
    assert owner.upload().status_code == 201
    assert jobs == ["inspect"] * 2
    error(api_client().upload(bomb), 422, "validation_error")
    assert jobs == ["inspect"] * 3  # nobody learns what others have sent
