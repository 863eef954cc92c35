"""The TypeScript client goes the whole way, with the real service."""

import re
import shutil
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


def test_its_readme(service: Service, tmp_path: Path) -> None:
    """The blocks, in their order, are one program in strict mode."""
    sources, built = tmp_path / "sources", tmp_path / "built"
    shutil.copytree(typescript.CLIENT, sources, ignore=shutil.ignore_patterns("node_modules", "*.test.ts"))
    built.mkdir()
    blocks = re.findall(r"```typescript\n(.*?)```", (typescript.CLIENT / "README.md").read_text(), re.DOTALL)
    program = "\n".join(blocks).replace("https://sign.example.com", service.url)
    program = program.replace('"…"', f'"{service.new_key("free", "sandbox")}"').replace("5_000", "200")
    (sources / "test" / "readme.ts").write_text(program.replace('"paraph-client"', '"../src/index.js"'))
    (built / "contract.pdf").write_bytes(contract())
    client = typescript.compiled(built, sources)
    told = typescript.run("node", client / "test" / "readme.js", cwd=built)
    assert "request.completed" in told and "404 not_found There is no such resource." in told
    assert [path.read_bytes()[:5] for path in built.glob("signed-*.pdf")] == [b"%PDF-"]
