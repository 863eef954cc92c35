"""``paraph log``: audits of a log by whoever has its address, and an older backup beside a newer store."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from paraph.cli import main
from paraph.evidence.models import ProofFile
from paraph.transparency import log
from paraph.transparency.merkle import leaf_hash, node_hash
from paraph.transparency.notes import Checkpoint, Note, Proof, cosign, read_note, sign
from paraph.transparency.witnesses import own_key
from tests.cli.service import Service, free_port
from tests.pdf.sealed_files import root_file
from tests.pdf.verification.test_evidence_check import evidence, proven, signed
from tests.transparency.rows import proofs


@pytest.fixture
def address(data_dir: Path, live_server: Any, transactional_db: None, tmp_path: Path) -> str:
    """The address of a log of 300 entries, the last of which is ``proof.pdf``; its ``signed.pdf`` lies beside it."""
    proofs(300)
    (tmp_path / "proof.pdf").write_bytes(proven(evidence()))
    (tmp_path / "signed.pdf").write_bytes(signed())
    newest = ProofFile.objects.order_by("-pk")[:1].get()
    ProofFile.objects.filter(pk=newest.pk).update(sha256=hashlib.sha256((tmp_path / "proof.pdf").read_bytes()).digest())
    log.log_proofs()
    return f"{live_server.url}/transparency"


def run(*arguments: object) -> tuple[int, str]:
    said = CliRunner().invoke(main, list(map(str, arguments)))
    assert said.exception is None or isinstance(said.exception, SystemExit), said.exception
    return said.exit_code, said.output


def verify(address: str, *arguments: str | Path) -> tuple[int, str]:
    return run("log", "verify", address, *arguments)


def test_an_audit_says_what_holds_and_what_does_not(address: str, tmp_path: Path) -> None:
    key, seen = ["--key", str(own_key().log)], tmp_path / "seen.txt"
    status, said = verify(address, *key)
    assert status == 0 and said.endswith("all entries, 300, lead to the root that the log signed.\n")
    seen.write_bytes(httpx.get(f"{address}/checkpoint").content)
    proofs(20)
    log.log_proofs()
    inclusion = tmp_path / "transparency.proof"
    inclusion.write_text(str(log.inclusion_proof_of(ProofFile.objects.get(log_index=299))))
    for earlier in (seen, inclusion):
        assert verify(address, *key, "--earlier", earlier)[0] == 0
    assert json.loads(verify(address, "--json")[1]) == {"ok": True, "origin": own_key().log.name, "size": 320}
    seen.write_text(seen.read_text().replace("\n300\n", "\n301\n"))
    status, said = verify(address, *key, "--earlier", seen)
    assert status == 1 and f"NOT OK: The signature of {own_key().log.name} is wrong." in said
    other = own_key().log._replace(name="other.example.com")
    status, said = verify(address, "--key", str(other))
    assert status == 1 and "NOT OK: The checkpoint is of the log" in said
    status, said = verify(f"{address}/nowhere")
    assert status == 1 and "NOT OK: key cannot be had: HTTP status 404" in said


def forked() -> str:
    """An inclusion proof in another log of two entries, signed by the log's own key."""
    own, entry = own_key(), log.entries(299, 1)[0]
    text = str(Checkpoint(own.log.name, 2, node_hash(b"f" * 32, leaf_hash(entry))))
    return str(Proof(1, [b"f" * 32], str(Note(text, (sign(text, own.log, own.private),)))))


def test_a_proof_is_looked_for_in_its_log(address: str, tmp_path: Path) -> None:
    proof, inclusion = tmp_path / "proof.pdf", tmp_path / "transparency.proof"
    inclusion.write_text(str(log.inclusion_proof_of(ProofFile.objects.get(log_index=299))))
    proofs(20)
    log.log_proofs()
    asked = ["verify", "--root", root_file(tmp_path), "--log", address]
    found = f"{proof} is entry 299 of the log {own_key().log.name}."
    for given in ([proof], [proof, tmp_path / "signed.pdf", "--inclusion", inclusion]):
        status, said = run(*asked, *given)
        assert status == 0 and said.count(found) == 1, said
    altered = inclusion.read_text().splitlines()
    altered[2] = base64.b64encode(b"x" * 32).decode()
    for text, sentence in (
        ("\n".join([*altered, ""]), f"has {proof} does not hold: The inclusion proof does not lead"),
        (forked(), "contains it cannot be told: The log was forked: its first 2 entries"),
    ):
        inclusion.write_text(text)
        status, said = run(*asked, "--inclusion", inclusion, proof)
        assert status == 1 and f"{proof}: cannot be told: " in said and sentence in said, said


def test_what_the_log_does_not_say_is_not_told_as_an_alteration(address: str, tmp_path: Path) -> None:
    proof, other = tmp_path / "proof.pdf", tmp_path / "signed.pdf"
    gone = f"http://127.0.0.1:{free_port()}"
    unknown = tmp_path / "unknown.pdf"
    unknown.write_bytes(proven(evidence()))
    asked = ["verify", "--json", "--root", root_file(tmp_path), "--log"]
    for url, files, sub_indication in (
        (gone, [proof], "GENERIC"),
        (gone, [proof, other], "GENERIC"),
        (address, [other], "SIG_CONSTRAINTS_FAILURE"),
        (address, [unknown], "SIG_CONSTRAINTS_FAILURE"),
        (address, [unknown, other], "SIG_CONSTRAINTS_FAILURE"),
    ):
        status, said = run(*asked, url, *files)
        found = json.loads(said)
        assert status == 1 and (found["indication"], found["sub_indication"]) == ("INDETERMINATE", sub_indication)
    assert run("verify", proof, "--inclusion", other)[0] == 2


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
