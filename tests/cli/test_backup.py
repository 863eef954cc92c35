"""The backup of docs/operating.md, taken, lost and restored."""

import re
import shutil
import subprocess
from pathlib import Path

from tests import first_start
from tests.cli.service import Service

PAGE = (Path(__file__).parents[2] / "docs" / "operating.md").read_text()


def test_what_the_page_says_restores_everything(tmp_path: Path) -> None:
    commands = re.findall(r"^    (tar .*)$", PAGE, re.MULTILINE)
    pack, unpack = (command.replace("paraph-backup", f"{tmp_path}/paraph-backup") for command in commands)
    stopped = Service(tmp_path / "paraph-data")
    first_start.copy(stopped.data_dir)
    made = stopped.command("organization", "create", "Acme", "--plan", "pro")
    subprocess.run(["sh", "-ec", pack], cwd=tmp_path, check=True)
    cluster = (tmp_path / "paraph-data" / "postgres").resolve()
    secret = (tmp_path / "paraph-data" / "secret.key").read_bytes()
    shutil.rmtree(cluster)
    shutil.rmtree(tmp_path / "paraph-data")

    subprocess.run(["sh", "-ec", unpack], cwd=tmp_path, check=True)
    try:
        assert (tmp_path / "paraph-data" / "secret.key").read_bytes() == secret
        options = ["--organization", str(made["id"]), "--environment", "sandbox", "--name", "after"]
        assert stopped.command("application", "create", *options)["organization_id"] == made["id"]
        assert {found["status"] for found in stopped.command("check")} == {"ok", "warning"}
    finally:
        shutil.rmtree(cluster)
