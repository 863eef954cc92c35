"""The token of docs/keys.md is made as the page says, and its key opens in both ways that the page has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import changed
from tests.independent import need
from tests.keys.soft_tokens import module

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
