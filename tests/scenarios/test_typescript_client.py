"""The TypeScript client goes the whole way, with the real service."""

from pathlib import Path

from paraph.cli.demo.contract import contract
from tests.clients import typescript
from tests.scenarios.conftest import Service


def test_the_main_job_and_what_is_beside_it(service: Service, tmp_path: Path) -> None:
    client = typescript.compiled(tmp_path)
    (tmp_path / "lease.pdf").write_bytes(contract())
    typescript.run_tests(
        client / "test" / "service.test.js",
        PARAPH_URL=service.url,
        PARAPH_API_KEY=service.new_key("pro", "sandbox"),
        PARAPH_PDF=str(tmp_path / "lease.pdf"),
    )
