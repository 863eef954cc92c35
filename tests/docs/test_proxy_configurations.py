"""nginx, HAProxy and Caddy take what the pages have for them. Whether it protects, tests/attacks tries."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.attacks.front import COMMANDS, PROGRAMS, certified, documented
from tests.cli.service import free_port
from tests.docs.blocks import changed
from tests.independent import need

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
