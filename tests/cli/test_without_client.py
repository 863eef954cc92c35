"""Paraph from its wheel alone, without the Python client that the demo speaks through."""

import subprocess
import sys

_ALONE = "import sys; sys.modules['paraph_client'] = None; from paraph.cli import main; main()"


def paraph(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", _ALONE, *arguments], capture_output=True, text=True, check=False)


def test_the_demo_says_what_to_install() -> None:
    done = paraph("demo", "--out", "anywhere")
    assert done.returncode == 1
    assert done.stderr.startswith("paraph demo needs the Python client: pip install 'paraph[demo]'.")
    assert len(done.stderr.splitlines()) == 1


def test_help_shows_every_command() -> None:
    done = paraph("--help")
    assert done.returncode == 0
    assert "demo" in done.stdout and "serve" in done.stdout
