"""The verification examples of docs/webhooks.md do what they say."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from paraph.webhooks.payload import signature

_GUIDE = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text()
_BODY = '{"event":"signer.signed","signer":{"first_name":"Émile"}}'
_SECRET = "5e" * 32


def example(language: str, function: str) -> str:
    """The function of that name in the guide's example, with what it imports."""
    [code] = re.findall(rf"```{language}\n(.*?)```", _GUIDE, re.DOTALL)
    ends = {"python": r"\n\n\n", "javascript": r"\n}\n"}[language]
    [body] = re.findall(rf"(?:def|function) {function}.*?{ends}", code, re.DOTALL)
    return str(body)


def test_python() -> None:
    names: dict[str, Any] = {}
    exec("import hashlib, hmac\n" + example("python", "is_genuine"), names)
    given = signature(_SECRET, _BODY.encode())
    assert names["is_genuine"](_BODY.encode(), given, _SECRET)
    assert not names["is_genuine"](_BODY.encode() + b" ", given, _SECRET)
    assert not names["is_genuine"](_BODY.encode(), "", _SECRET)


def test_node() -> None:
    node = shutil.which("node")
    if not node:
        pytest.skip("node is missing (Debian package nodejs)")
    given = signature(_SECRET, _BODY.encode())
    calls = f"""
        const body = Buffer.from({_BODY!r});
        console.log(isGenuine(body, "{given}", "{_SECRET}"), isGenuine(body, "{given[:-1]}0x", "{_SECRET}"),
            isGenuine(Buffer.from("{{}}"), "{given}", "{_SECRET}"), isGenuine(body, undefined, "{_SECRET}"));
    """
    script = 'const crypto = require("node:crypto");\n' + example("javascript", "isGenuine") + calls
    done = subprocess.run([node, "-e", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["true", "false", "false", "false"]


def test_operators_are_asked_to_announce_a_change_of_address() -> None:
    assert "Announce a change of the address 30 days ahead." in _GUIDE
    assert "The address complements the signature, it never replaces it." in _GUIDE
