"""Blocks of README.md and docs are read as those read them that they are for."""

import configparser
import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from paraph.kernel.settings import read_settings
from paraph.postgres.cluster import programs
from tests.config.test_documentation import FIELDS
from tests.docs.blocks import Block, blocks
from tests.docs.table import TABLE
from tests.docs.test_documented_blocks import rows_of
from tests.independent import need


def of(kind: str) -> list[Block]:
    found = [each for each in blocks() if kind in {row.kind for row in rows_of(each, TABLE)}]
    assert found
    return found


def test_a_shell_reads_each_line_for_it() -> None:
    for block in of("shell"):
        done = subprocess.run(["sh", "-n"], input=block.text, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), block.key


def test_python_reads_each_program() -> None:
    for block in of("python"):
        compile(block.text, block.key, "exec")


def test_node_reads_each_program() -> None:
    node = need("node", "nodejs")
    for block in of("javascript"):
        subprocess.run([node, "--check", "-"], input=block.text, text=True, check=True)


def test_json_and_yaml_are_whole() -> None:
    assert all(isinstance(json.loads(block.text), dict) for block in of("json"))
    assert all(isinstance(yaml.safe_load(block.text), dict) for block in of("yaml"))


def test_ini_is_whole() -> None:
    for block in of("ini"):
        configparser.ConfigParser(interpolation=None).read_string(block.text)


@pytest.mark.parametrize("block", of("settings"), ids=lambda each: each.key)
def test_settings_are_taken(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in FIELDS:
        monkeypatch.delenv(name, raising=False)
    lines = dict(re.findall(r"^([A-Z_]+)=(.+)$", block.text, re.MULTILINE))
    assert len(lines) == len(block.text.splitlines()) and set(lines) <= set(FIELDS)
    for name, value in lines.items():
        monkeypatch.setenv(name, value)
    read_settings()


def refusal(settings: str, folder: Path) -> str:
    """What PostgreSQL says against them as its configuration; empty where it would start with them."""
    (folder / "postgresql.conf").write_text(settings)
    (folder / "postgresql.auto.conf").touch()
    command: list[str | Path] = [
        programs(None) / "postgres",
        "-C",
        "max_connections",
        "-D",
        folder,
    ]  # -C first: root may
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr or done.stdout.strip().isdigit()
    return done.stderr


def test_postgresql_starts_with_its_settings(tmp_path: Path) -> None:
    for block in of("postgresql"):
        assert refusal(block.text, tmp_path) == "", block.key


@pytest.mark.parametrize(
    "line", ["synchronous_standby_names = 'ANY 1 (first, second)'", "synchronous_commit = yess", "archiv_mode = on"]
)
def test_what_postgresql_would_not_start_with_is_found(line: str, tmp_path: Path) -> None:
    assert line.split(maxsplit=1)[0] in refusal(f"{line}\n", tmp_path)
