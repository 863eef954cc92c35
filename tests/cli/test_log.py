"""``paraph log``: audits of a log by whoever has its address, and an older backup beside a newer store."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from paraph.cli import main
from paraph.evidence.models import ProofFile
from paraph.transparency import log
from paraph.transparency.notes import cosign, read_note
from paraph.transparency.own_key import own_key
from tests.cli.service import Service
from tests.transparency.rows import proofs


@pytest.fixture
def address(data_dir: Path, live_server: Any, transactional_db: None, tmp_path: Path) -> str:
    """Of a log with a proof that is the file ``proof.pdf``."""
    proofs(300)
    (tmp_path / "proof.pdf").write_bytes(b"a proof")
    newest = ProofFile.objects.order_by("-pk")[:1].get()
    ProofFile.objects.filter(pk=newest.pk).update(sha256=hashlib.sha256(b"a proof").digest())
    log.log_proofs()
    return f"{live_server.url}/transparency"


def verify(address: str, *arguments: str | Path) -> tuple[int, str]:
    said = CliRunner().invoke(main, ["log", "verify", address, *map(str, arguments)])
    assert said.exception is None or isinstance(said.exception, SystemExit), said.exception
    return said.exit_code, said.output


def test_an_audit_says_what_holds_and_what_does_not(address: str, tmp_path: Path) -> None:
    key, proof, seen = ["--key", str(own_key().log)], tmp_path / "proof.pdf", tmp_path / "seen.txt"
    status, said = verify(address, *key, "--save", seen, "--contains", proof)
    assert status == 0 and "proof.pdf is entry 299." in said
    assert said.endswith("300 entries lead to the root that the log signed.\n")
    proofs(20)
    log.log_proofs()
    inclusion = tmp_path / "transparency.proof"
    inclusion.write_text(str(log.inclusion_proof_of(ProofFile.objects.get(log_index=299))))
    for earlier in (seen, inclusion):
        assert verify(address, *key, "--earlier", earlier)[0] == 0
    status, said = verify(address, "--json", "--contains", proof, "--contains", seen)
    found = json.loads(said)
    assert status == 1 and found["entries"] == {str(proof): 299, str(seen): None} and not found["ok"]
    seen.write_text(seen.read_text().replace("\n300\n", "\n301\n"))
    assert verify(address, *key, "--earlier", seen)[0] == 1
    other = own_key().log._replace(name="other.example.com")
    status, said = verify(address, "--key", str(other))
    assert status == 1 and "NOT OK: The checkpoint is of the log" in said
    status, said = verify(f"{address}/nowhere")
    assert status == 1 and "NOT OK: key cannot be had: HTTP status 404." in said


def test_a_policy_says_whose_cosignatures_are_wanted(address: str, tmp_path: Path) -> None:
    policy, own = tmp_path / "policy.txt", own_key()
    policy.write_text(f"log {own.log}\nwitness w {own.witness}\nquorum w\n")
    status, said = verify(address, "--policy", policy)
    assert status == 1 and "wants w to have cosigned" in said
    newest = log.published()
    assert newest
    newest.note += str(cosign(read_note(newest.note).text, own.witness, own.private, 1767000000))
    newest.save()
    assert verify(address, "--policy", policy)[0] == 0


@pytest.mark.thorough
def test_the_log_of_a_service_is_shown_and_rebuilt(service: Service) -> None:
    shown = service.command("log", "show")
    assert shown["size"] == 0 and "/transparency+" in shown["key"]
    done = service.run("log", "rebuild")
    assert done.returncode == 1 and "has no transparency log" in done.stderr
