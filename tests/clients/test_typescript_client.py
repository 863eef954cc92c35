"""The TypeScript client: its own tests run by Node, and what is published. The scenarios run it against the real
service."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from paraph.api.v1.openapi import document
from paraph_client import Client
from tests.clients import typescript

PACKAGE = json.loads((typescript.CLIENT / "package.json").read_text())


@pytest.mark.thorough
def test_what_it_sends_and_reads() -> None:
    client = typescript.compiled_client()
    typescript.run_tests(client / "test" / "sending.test.js", client / "test" / "calls.test.js")


def test_its_methods_are_those_of_the_python_client() -> None:
    source = (typescript.CLIENT / "src" / "paraph.ts").read_text()
    methods = re.findall(r"^  (?:async )?([a-z]\w*)\(", source, re.MULTILINE)
    names = {name for name in dir(Client) if name[0] != "_"} - {"close", "run", "walk"}
    assert set(methods) - {"constructor"} == {re.sub(r"_(\w)", lambda found: found[1].upper(), name) for name in names}


def test_its_types_are_those_of_the_document(tmp_path: Path) -> None:
    """``python -m tests.clients.typescript`` makes the types anew."""
    typescript.tools()
    typescript.make_types(document(), tmp_path / "schema.ts")
    assert (tmp_path / "schema.ts").read_text() == typescript.SCHEMA.read_text()


def test_it_needs_nothing_and_has_the_version_of_the_service() -> None:
    project = tomllib.loads((typescript.CLIENT.parents[1] / "pyproject.toml").read_text())
    assert PACKAGE["version"] == project["project"]["version"]
    assert f"paraph-client-typescript/{PACKAGE['version']}" in (typescript.CLIENT / "src" / "sending.ts").read_text()
    assert "dependencies" not in PACKAGE


def test_its_lock_names_no_index() -> None:
    lock = json.loads((typescript.CLIENT / "package-lock.json").read_text())
    locked = {name: entry for name, entry in lock["packages"].items() if name}
    assert locked and all(entry["integrity"].startswith("sha512-") for entry in locked.values())
    assert not [name for name, entry in locked.items() if "resolved" in entry]
