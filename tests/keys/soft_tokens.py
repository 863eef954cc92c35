"""PKCS#11 tokens of SoftHSM, which behave as those of hardware do."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import quote

import pytest

from paraph.kernel import tokens
from paraph.keys.signing_key import PrivateKey
from tests.independent import need
from tests.keys.certified_keys import Kind, Root, make_key, make_root
from tests.keys.odd_chains import pkcs8

_MODULES = (
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib64/pkcs11/libsofthsm2.so",
    "/usr/local/lib/softhsm/libsofthsm2.so",
)
PIN = "a pin & more"


def module() -> Path:
    """Return the path of SoftHSM's library, with tokens of this process alone; skip the test where it is missing."""
    need("softhsm2-util", "softhsm2")
    found = next((path for path in map(Path, _MODULES) if path.exists()), None)
    if found is None:
        pytest.skip("SoftHSM's library is missing (Debian package softhsm2)")
    _configured()
    return found


@dataclass
class Token:
    """A token with one key, labelled ``seal``."""

    label: str
    folder: Path
    key: PrivateKey
    root: Root

    @property
    def chain(self) -> Path:
        return self.root.chain(self.folder, self.key.public_key())

    def put(self, key: PrivateKey, label: str = "seal", identifier: str = "a1") -> None:
        """Import the key into the token. ``identifier``: hexadecimal."""
        file = self.folder / "to-import.pem"
        file.write_bytes(pkcs8(key))
        named = ("--label", label, "--id", identifier)
        _softhsm("--import", str(file), "--token", self.label, "--pin", PIN, *named)
        file.unlink()


@contextmanager
def token(kind: Kind, folder: Path, root: Root | None = None) -> Iterator[Token]:
    """Make a token for the block."""
    module()
    made = Token(f"seals {tokens.random_hex(4)}", folder, make_key(kind), root or make_root())
    make_token(made.label)
    made.put(made.key)
    try:
        yield made
    finally:
        remove_token(made.label, there=False)


def make_token(label: str) -> None:
    _softhsm("--init-token", "--free", "--label", label, "--pin", PIN, "--so-pin", "of the officer")


def remove_token(label: str, *, there: bool = True) -> None:
    """Delete the token. ``there``: whether it must exist."""
    _softhsm("--delete-token", "--token", label, check=there)


def address(token: str, label: str, **query: str) -> str:
    options = "".join(f"&{name.replace('_', '-')}={quote(value)}" for name, value in query.items())
    return f"pkcs11:token={quote(token)};object={quote(label)}?module-path={module()}{options}"


@cache
def _configured() -> None:
    """Configure SoftHSM for all tests: a module reads its configuration once per process."""
    folder = Path(mkdtemp(prefix="paraph-softhsm-"))
    (folder / "tokens").mkdir()
    (folder / "softhsm2.conf").write_text(
        f"directories.tokendir = {folder / 'tokens'}\nobjectstore.backend = file\nlog.level = ERROR\n"
    )
    os.environ["SOFTHSM2_CONF"] = str(folder / "softhsm2.conf")


def _softhsm(*arguments: str, check: bool = True) -> None:
    done = subprocess.run(["softhsm2-util", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or not check, done.stdout + done.stderr
