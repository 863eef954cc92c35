"""A bundle has the proof of inclusion once the log has the proof; whoever verifies it chooses which log counts."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from django.core.files.uploadedfile import SimpleUploadedFile

from paraph.cli import main
from paraph.evidence.models import ProofFile
from paraph.flow.sealing.context import sealing_context
from paraph.pdf import asic
from paraph.pdf.untrusted.verify import check_bundle
from paraph.transparency.log import log_proofs
from paraph.transparency.notes import check_tlog_proof, of_log
from paraph.transparency.witnesses import own_key
from tests.bundle.bundles import bundle_of, finished, made_anew, parts_of
from tests.factories import Scene
from tests.production import Client
from tests.transparency.rows import proofs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("data_dir")]


def logged() -> Scene:
    """Return a finished request whose proof becomes entry 3 with the next run of the log."""
    proofs(3)
    log_proofs()
    made = finished()
    ProofFile.objects.filter(request=made.request).update(log_index=None)  # as for a new proof of production
    return made


def run(file: Path, bundle: bytes, *arguments: object) -> tuple[int, str]:
    file.write_bytes(bundle)
    roots = file.with_name("roots.pem")
    roots.write_bytes(asic.as_pem(sealing_context().roots("sandbox")))
    said = CliRunner().invoke(main, ["verify", str(file), "--root", str(roots), *map(str, arguments)])
    assert said.exception is None or isinstance(said.exception, SystemExit), said.exception
    return said.exit_code, said.output


def test_a_bundle_has_the_proof_of_inclusion_once_there_is_one() -> None:
    made = logged()
    before = parts_of(bundle_of(made))
    assert asic.INCLUSION not in before and b"contains no proof of inclusion" in before[asic.README]
    log_proofs()
    after = parts_of(bundle_of(made))
    readme = after[asic.README].decode()
    assert "no proof of inclusion" not in readme and f"--inclusion {asic.INCLUSION}" in readme
    sha256 = bytes(ProofFile.objects.get(request=made.request).sha256)
    assert check_tlog_proof(after[asic.INCLUSION].decode(), sha256, of_log(own_key().log)).size == 4
    proofs(5)
    log_proofs()
    assert parts_of(bundle_of(made)) == after, "a proof belongs to the first checkpoint that contains it"


def test_whose_log_counts_is_said_by_who_verifies(tmp_path: Path, live_server: Any) -> None:
    made, file, policy = logged(), tmp_path / "bundle.zip", tmp_path / "policy.txt"
    unlogged = bundle_of(made)
    log_proofs()
    bundle, entry = bundle_of(made), f"proof.pdf is entry 3 of the log {own_key().log.name}."
    status, said = run(file, bundle)
    assert status == 0 and "not compared: transparency.proof" in said, said
    policy.write_text(f"log {own_key().log}\nquorum none\n")
    for asked in (["--policy", policy], ["--log", f"{live_server.url}/transparency"]):
        status, said = run(file, bundle, *asked)
        assert status == 0 and f"  ok: {entry}" in said, said
        status, said = run(file, made_anew(bundle, {asic.INCLUSION: b"c2sp.org/tlog-proof@v1\n"}), *asked)
        assert status == 1 and "was altered" in said and "This is no proof of inclusion" in said, said
    status, said = run(file, unlogged, "--policy", policy)
    assert status == 1 and "The bundle: cannot be told." in said and "There is no proof of inclusion." in said
    other = own_key().log._replace(public=bytes(31) + b"\x07")
    policy.write_text(f"log {other}\nquorum none\n")
    status, said = run(file, bundle, "--policy", policy)
    assert status == 1 and "The bundle: cannot be told." in said and "is not signed by the key of" in said, said
    policy.write_text(f"log {own_key().log}\nwitness w {own_key().witness}\nquorum w\n")
    status, said = run(file, bundle, "--policy", policy)
    assert status == 1 and "wants w to have cosigned" in said
    for wrong in (["--policy", policy, "--inclusion", policy], ["--inclusion", policy], ["--evidence", policy]):
        assert run(file, bundle, *wrong)[0] == 2
    policy.write_text("quorum")
    status, said = run(file, bundle, "--policy", policy)
    assert status == 1 and "Line 1 of the policy" in said


def test_a_proof_of_inclusion_put_in_later_is_an_alteration(tmp_path: Path) -> None:
    made = logged()
    bundle = bundle_of(made)
    log_proofs()
    inclusion = parts_of(bundle_of(made))[asic.INCLUSION]
    found = check_bundle(made_anew(bundle, {asic.INCLUSION: inclusion}), sealing_context().roots("sandbox"))
    assert found.verdict.word == "altered"


def test_the_page_for_anybody_knows_its_own_log() -> None:
    made = logged()
    log_proofs()
    bundle, word = bundle_of(made), f"is entry 3 of the log {own_key().log.name}."
    text = parts_of(bundle)[asic.INCLUSION].decode()
    assert any(word in each for each in at_the_page(bundle)["matches"])
    own, *_ = text.rpartition("\u2014 ")
    forged = made_anew(bundle, {asic.INCLUSION: f"{own}\u2014 {own_key().log.name} {'A' * 92}\n".encode()})
    assert any("That a log has proof.pdf does not hold" in each for each in at_the_page(forged)["problems"])
    marked = made_anew(bundle, {asic.INCLUSION: f"<b>{text}\n<script>\n".encode()})
    page = Client().post("/verify", {"file": SimpleUploadedFile("b.zip", marked)}).content.decode()
    assert "This is no proof of inclusion" in page and "<script>" not in page and "<b>" not in page
    stranger = made_anew(bundle, {asic.INCLUSION: text.replace(own_key().log.name, "log.example").encode()})
    assert not any("log" in each for each in at_the_page(stranger)["matches"])


def at_the_page(bundle: bytes) -> dict[str, Any]:
    body = {"file": SimpleUploadedFile("bundle.zip", bundle)}
    answer: dict[str, Any] = Client().post("/verify", body, headers={"Accept": "application/json"}).json()
    return answer
