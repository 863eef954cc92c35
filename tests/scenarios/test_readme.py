"""The README's walk-through works when pasted."""

import os
import re
import subprocess
from pathlib import Path

from tests.contract import contract
from tests.independent import need
from tests.scenarios.conftest import Service

PROJECT = Path(__file__).parents[2]


def test_the_walk_through_with_curl(service: Service, tmp_path: Path) -> None:
    need("curl", "curl")
    readme = (PROJECT / "README.md").read_text()
    walk = readme[readme.index("## Walk through it with curl") : readme.index("## Where to go from here")]
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", walk, flags=re.MULTILINE)
    script = "\n".join(block for block in blocks if "make serve" not in block)
    script = script.replace("http://127.0.0.1:8000", service.url)
    (tmp_path / "demo-output").mkdir()
    uploaded = contract()
    (tmp_path / "demo-output" / "uploaded.pdf").write_bytes(uploaded)
    (tmp_path / ".venv").symlink_to(PROJECT / ".venv")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PARAPH_DATA_DIR": str(service.data_dir)},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Everything matches." in done.stdout
    assert "signature_request.certificate_issued" in done.stdout
    assert (tmp_path / "signed.pdf").read_bytes().startswith(uploaded)
    assert (tmp_path / "proof.pdf").read_bytes().startswith(b"%PDF-")
