"""The TypeScript client, compiled. ``python -m tests.clients.typescript`` makes its types anew from the OpenAPI
document."""

import fcntl
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests import first_start
from tests.independent import need

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"
SCHEMA = CLIENT / "src" / "schema.ts"
_TOOLS = CLIENT / "node_modules" / ".bin"


def compiled_client() -> Path:
    """The folder with the client, its tests and the blocks of its README (``test/readme.js``, one program in their
    order) as JavaScript, compiled once for the run; skips the test where they cannot be compiled."""
    tools()
    folder = Path(os.environ[first_start.FOLDER])
    sources, built = folder / "typescript", folder / "typescript-built"
    with (folder / "typescript.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            shutil.rmtree(sources, ignore_errors=True)  # of a process that failed
            shutil.copytree(CLIENT, sources, ignore=shutil.ignore_patterns("node_modules"))
            (sources / "test" / "readme.ts").write_text(_readme())
            draft = folder / "typescript-draft"
            draft.mkdir(exist_ok=True)
            compiled(draft, sources).rename(built)
    return built


def _readme() -> str:
    """Address and key are those of the environment, and the client is that of the sources."""
    blocks = re.findall(r"```typescript\n(.*?)```", (CLIENT / "README.md").read_text(), re.DOTALL)
    program = "\n".join(blocks).replace('"https://sign.example.com"', 'process.env["PARAPH_URL"] ?? ""')
    program = program.replace('"…"', 'process.env["PARAPH_API_KEY"] ?? ""').replace("5_000", "200")
    return program.replace('"paraph-client"', '"../src/index.js"')


def compiled(folder: Path, sources: Path = CLIENT) -> Path:
    """The folder with the sources as JavaScript; skips the test where they cannot be compiled."""
    tools()
    (folder / "package.json").write_text('{"type": "module"}\n')
    types = CLIENT / "node_modules" / "@types"
    run(_TOOLS / "tsc", "--project", sources, "--outDir", folder, "--typeRoots", types)
    return folder


def tools() -> None:
    """Skip the test where there is no Node, or what the client is compiled with is not installed."""
    version = run(need("node", "nodejs"), "--version")
    if int(version.removeprefix("v").split(".")[0]) < 20:
        pytest.skip(f"Node 20 or newer is missing; {version.strip()} is here")
    need("npm", "npm")
    if not _TOOLS.is_dir():
        pytest.skip("what compiles the TypeScript client is missing: npm ci in clients/typescript, as `make test` does")


def run_tests(*files: Path, **environment: str) -> None:
    """Run compiled tests; fails with all they say."""
    run("node", "--test", *files, environment=environment)


def run_module(source: str, **environment: str) -> str:
    """What a TypeScript module says that imports the client; its types are checked before it runs."""
    package = compiled_client()
    with TemporaryDirectory() as name:
        folder = Path(name)
        installed = folder / "node_modules" / "paraph-client"
        installed.mkdir(parents=True)
        (installed / "src").symlink_to(package / "src")
        exported = {"types": "./src/index.d.ts", "default": "./src/index.js"}
        (installed / "package.json").write_text(json.dumps({"type": "module", "exports": {".": exported}}))
        (folder / "sample.mts").write_text(source)
        types = CLIENT / "node_modules" / "@types"
        options = ["--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom,dom.iterable", "--strict"]
        run(_TOOLS / "tsc", *options, "--skipLibCheck", "--typeRoots", types, "--types", "node", folder / "sample.mts")
        return run("node", folder / "sample.mjs", environment=environment)


def make_types(document: bytes, schema: Path) -> None:
    """Write the types of an OpenAPI document."""
    source = schema.with_suffix(".json")
    source.write_bytes(document)
    run(_TOOLS / "openapi-typescript", source, "--default-non-nullable=false", "--output", schema)
    source.unlink()


def run(*command: str | Path, cwd: Path | None = None, environment: Mapping[str, str] | None = None) -> str:
    """What a command says; fails with all of it where it ends with an error."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd, env={**os.environ, **(environment or {})}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "paraph.config.settings")
    import django

    django.setup()
    from paraph.api.v1.openapi import document

    make_types(document(), SCHEMA)
