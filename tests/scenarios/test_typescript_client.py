"""The TypeScript client goes the whole way, with the real service."""

from pathlib import Path

import pytest

from tests.clients import typescript
from tests.contract import contract
from tests.scenarios.conftest import Service


@pytest.mark.thorough
def test_the_main_job_and_what_is_beside_it(service: Service, tmp_path: Path) -> None:
    client = typescript.compiled_client()
    (tmp_path / "lease.pdf").write_bytes(contract())
    typescript.run_tests(
        client / "test" / "service.test.js",
        PARAPH_URL=service.url,
        PARAPH_API_KEY=service.new_key("pro", "sandbox"),
        PARAPH_PDF=str(tmp_path / "lease.pdf"),
    )


def test_its_readme(service: Service, tmp_path: Path) -> None:
    """The blocks, in their order, are one program in strict mode."""
    client = typescript.compiled_client()
    (tmp_path / "contract.pdf").write_bytes(contract())
    known = {"PARAPH_URL": service.url, "PARAPH_API_KEY": service.new_key("free", "sandbox")}
    told = typescript.run("node", client / "test" / "readme.js", cwd=tmp_path, environment=known)
    assert "request.completed" in told and "404 not_found There is no such resource." in told
    assert [path.read_bytes()[:5] for path in tmp_path.glob("signed-*.pdf")] == [b"%PDF-"]
