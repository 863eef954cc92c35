"""Every block of code of README.md and docs is run by tests that are there, or ``table.md`` says why not; each is read
as those read it that it is for: nginx, HAProxy and Caddy too. Whether their configurations protect, tests/attacks
tries."""

import configparser
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml

from paraph.kernel.settings import read_settings
from paraph.postgres.cluster import programs
from tests.attacks.front import COMMANDS, PROGRAMS, certified, documented
from tests.cli.service import free_port
from tests.config.test_documentation import FIELDS
from tests.docs.blocks import PROJECT, Block, Row, blocks, changed, read, rows_of, table
from tests.independent import need
from tests.keys.soft_tokens import module
from tests.test_specification import functions


def faults(found: Sequence[Block], table: dict[str, list[Row]]) -> list[str]:
    """Blocks that not exactly one row is about, and rows that are not about exactly one block."""
    wrong = [f"{len(rows)} rows for {each.key}" for each in found if len(rows := rows_of(each, table)) != 1]
    for page, listed in table.items():
        for row in listed:
            about = sum(each.page == page and row in rows_of(each, table) for each in found)
            if about != 1:
                wrong.append(f"{about} blocks for {page} # {row.heading}: {row.begins}")
    return wrong


def test_each_block_has_its_row_and_each_row_its_block() -> None:
    assert faults(blocks(), table()) == []


def test_each_row_names_tests_that_are_there() -> None:
    named = [test.partition("::") for rows in table().values() for row in rows for test in row.tests]
    assert len(named) > 80
    assert [(path, name) for path, _, name in named if name not in functions(PROJECT / path)] == []


def test_a_block_that_is_new_or_gone_would_be_found() -> None:
    page = "# One\n\n    paraph check\n\n- Text:\n\n  ```sh\n  paraph web\n  ```\n\n## Two\n\n```\nparaph worker\n```\n"
    found = read("a.md", page)
    keys = ["a.md # One: paraph check", "a.md # One: paraph web", "a.md # Two: paraph worker"]
    assert [each.key for each in found] == keys
    table = {"a.md": [Row(each.heading, each.text[:10], "shell", "") for each in found]}
    assert faults(found, table) == []
    assert len(faults(found, {"a.md": table["a.md"][1:]})) == 1
    assert len(faults(found[1:], table)) == 1
    assert len(faults(found, {"a.md": [*table["a.md"], Row("One", "paraph", "shell", "")]})) == 3


def of(kind: str) -> list[Block]:
    found = [each for each in blocks() if kind in {row.kind for row in rows_of(each, table())}]
    assert found
    return found


def silent(text: str, *command: str) -> bool:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return not done.stderr


READ: dict[str, Callable[[str], object]] = {
    "shell": lambda text: silent(text, "sh", "-n"),
    "python": lambda text: compile(text, "a block", "exec"),
    "javascript": lambda text: silent(text, need("node", "nodejs"), "--check", "-"),
    "json": lambda text: isinstance(json.loads(text), dict),
    "yaml": lambda text: isinstance(yaml.safe_load(text), dict),
    "ini": configparser.ConfigParser(interpolation=None).read_string,
}


@pytest.mark.parametrize("kind", READ)
def test_each_is_whole(kind: str) -> None:
    for block in of(kind):
        assert READ[kind](block.text) is not False, block.key


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
    command = [f"{programs(None)}/postgres", "-C", "max_connections", "-D", str(folder)]  # -C first: root may
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


_LIBRARY = "/usr/lib/softhsm/libsofthsm2.so"
_FROM_SETTINGS = """
import os
from pathlib import Path
from paraph.keys import open_key
key = open_key(os.environ["PARAPH_SEALING_KEY"], Path(os.environ["PARAPH_SEALING_CERTIFICATE"]))
print(key.key_id)
"""


@pytest.mark.thorough
def test_the_token_of_the_page_seals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("openssl", "openssl")
    library = str(module())
    (tmp_path / "tokens").mkdir()
    (tmp_path / "softhsm2.conf").write_text(f"directories.tokendir = {tmp_path / 'tokens'}\n")
    monkeypatch.setenv("SOFTHSM2_CONF", str(tmp_path / "softhsm2.conf"))
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    (tmp_path / "settings.py").write_text(_FROM_SETTINGS)
    there = {_LIBRARY: library}
    (tmp_path / "script.py").write_text(changed("docs/keys.md", "from pathlib", there) + "print(key.key_id)\n")
    script = changed(
        "docs/keys.md", "openssl req", there | {"\nparaph check\n": "\npython settings.py\npython script.py\n"}
    )
    done = subprocess.run(
        ["sh", "-eu"], input=script, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    by_settings, by_script = done.stdout.splitlines()[-2:]
    assert by_settings == by_script and "token=seals" in by_script and "object=seal" in by_script
    assert not (tmp_path / "seal.pem").exists()


_CHECKS = {"nginx": ["-t"], "haproxy": ["-c"], "caddy": ["validate"]}


def judged(program: str, arguments: list[str], settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [need(program, program), *_CHECKS[program], *(each for each in arguments if each != "run")]
    return subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, timeout=60, check=False)


def configured(program: str, folder: Path) -> tuple[list[str], dict[str, str]]:
    need(program, program)
    certified(folder)
    return COMMANDS[program](folder, free_port(), free_port())


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_program_takes_its_configuration(program: str, tmp_path: Path) -> None:
    arguments, settings = configured(program, tmp_path)
    done = judged(program, arguments, settings)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("program", "file", "one"),
    [("nginx", "nginx.conf", r"^ *upstream paraph \{.*?^ *\}\n"), ("haproxy", "haproxy.cfg", r"^backend paraph\n.*\Z")],
)
def test_it_takes_that_of_several_hosts(program: str, file: str, one: str, tmp_path: Path) -> None:
    arguments, settings = configured(program, tmp_path)
    several = documented(f"{program} hosts", {})
    text, replaced = re.subn(one, lambda _: several, (tmp_path / file).read_text(), flags=re.DOTALL | re.MULTILINE)
    assert replaced == 1
    (tmp_path / file).write_text(text)
    done = judged(program, arguments, settings)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nginx_takes_the_lines_for_the_controller(tmp_path: Path) -> None:
    lines = yaml.safe_load(changed("docs/proxies.md", "http-snippets", {}))["http-snippets"]
    (tmp_path / "nginx.conf").write_text(f"events {{}}\nhttp {{\n{lines}}}\n")
    more = f"pid {tmp_path / 'pid'};"
    done = judged("nginx", ["-c", str(tmp_path / "nginx.conf"), "-e", str(tmp_path / "errors"), "-g", more], {})
    assert done.returncode == 0, done.stderr


def test_caddy_redirects_another_domain(tmp_path: Path) -> None:
    (tmp_path / "Caddyfile").write_text(changed("docs/surroundings.md", "sign.example.com {", {}))
    command = [need("caddy", "caddy"), "adapt", "--config", str(tmp_path / "Caddyfile"), "--adapter", "caddyfile"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert '"Location":["https://signing.example.net{http.request.uri}"]' in done.stdout
    assert '"status_code":308' in done.stdout


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_fault_would_be_found(program: str, tmp_path: Path) -> None:
    arguments, settings = configured(program, tmp_path)
    [file] = [Path(each) for each in arguments if each.endswith((".conf", ".cfg", "Caddyfile"))]
    wrong = re.sub(r"\b(keepalive|http-reuse|reverse_proxy)\b", r"\1x", file.read_text())
    assert wrong != file.read_text()
    file.write_text(wrong)
    assert judged(program, arguments, settings).returncode != 0
