"""Bundles of evidence: made again, they have the same bytes, and other programs check each part of them. One has the
proof of inclusion once the log has the proof; whoever verifies it chooses which log counts."""

import html
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from paraph.audit_trail.models import Entry, EventType
from paraph.bundle import make
from paraph.bundle.make import open_bundle, readme
from paraph.documents.models import Document
from paraph.evidence.models import BundleTimestamp, ProofFile, SealedDocument
from paraph.flow.housekeeping.retention import delete_files
from paraph.flow.personal_data.erase import erase_signer
from paraph.flow.sealing import preserve
from paraph.flow.sealing.context import SealingContext, sealing_context
from paraph.kernel.errors import DomainError
from paraph.pdf import asic
from paraph.pdf.asic import free_name
from paraph.signature_requests.models import SignatureRequest
from paraph.storage import store
from paraph.tenants.admin_log import OPERATOR
from paraph.transparency.log import log_proofs
from paraph.transparency.notes import check_tlog_proof, of_log
from paraph.transparency.witnesses import own_key
from paraph.words import LOCALES
from tests.bundle.bundles import bundle_of, checked, finished, made_anew, parts_of
from tests.cli import test_log
from tests.cli.service import free_port
from tests.factories import Scene, scene
from tests.flow.test_preserve import sealed_without_timestamps
from tests.flow.test_seal import silent
from tests.independent import need
from tests.production import Client
from tests.transparency.rows import proofs

pytestmark = pytest.mark.django_db


def test_it_is_made_the_same_again_and_holds() -> None:
    made = finished(documents=2, signers=2)
    bundle = bundle_of(made)
    assert bundle == bundle_of(made) and BundleTimestamp.objects.count() == 1
    found = checked(bundle)
    assert found.ok and not found.notes, found.problems
    assert [name for name in found.sealed if name != asic.PROOF] == [
        "signed/contract-1-signed.pdf",
        "signed/contract-2-signed.pdf",
    ]
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        first = archive.infolist()[0]
        assert (first.filename, first.compress_type, first.extra) == ("mimetype", zipfile.ZIP_STORED, b"")
        assert archive.read(first) == b"application/vnd.etsi.asic-e+zip" and archive.testzip() is None


def unpacked(folder: Path, bundle: bytes) -> list[str]:
    """Unpack a bundle into the folder and return the commands on its page README.html."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        archive.extractall(folder)
    commands = re.findall(r"<pre>(.*?)</pre>", (folder / asic.README).read_text(), re.S)
    return [html.unescape(each) for each in commands]


def typed(command: str, folder: Path) -> tuple[int, str]:
    """Run a command in the folder as a shell would; return its exit status and what it prints."""
    environment = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_other_programs_check_each_part_as_its_page_says(tmp_path: Path) -> None:
    """The commands of README.html are run in the unpacked folder, with file names that a shell could misread."""
    for program, package in (("sha256sum", "coreutils"), ("openssl", "openssl"), ("pdfsig", "poppler-utils")):
        need(program, package)
    made = finished(documents=2, locale="de")
    Document.objects.filter(pk=made.request_documents[0].document_id).update(name="Miete & Süd's.pdf")
    bundle = bundle_of(made)
    told, commands = [], unpacked(tmp_path, bundle)
    for command in commands:
        ended, printed = typed(command, tmp_path)
        assert ended == 0, (command, printed)
        told.append(printed)
    assert len(told) == 4 and told[0].count(": OK") == len(parts_of(bundle)) - 4 and "FAILED" not in told[0]
    assert "Verification: OK" in told[1]
    assert told[2].count("Signature is Valid.") >= 3 and "Invalid" not in told[2]
    assert told[3].splitlines()[-1] == "Everything matches."
    for name, command in ((asic.JOURNAL, commands[0]), (asic.MANIFEST, commands[1])):
        (tmp_path / name).write_bytes(parts_of(bundle)[name] + b" ")
        assert typed(command, tmp_path)[0] == 1


def run(file: Path, bundle: bytes, *arguments: object) -> tuple[int, str]:
    """Return the exit status and the output of ``paraph verify`` for the bundle."""
    file.write_bytes(bundle)
    roots = file.with_name("roots.pem")
    roots.write_bytes(asic.as_pem(sealing_context().roots("sandbox")))
    return test_log.run("verify", file, "--root", roots, *arguments)


def test_paraph_verify_takes_it_as_a_whole(tmp_path: Path) -> None:
    bundle, file = bundle_of(finished()), tmp_path / "bundle.zip"
    for content, log, status, told in (
        (bundle, (), 0, "The bundle: holds."),
        (bundle, ("--log", f"http://127.0.0.1:{free_port()}"), 1, "The bundle: cannot be told."),
        (bundle + b"\0", (), 1, "The bundle: was altered."),
    ):
        ended, said = run(file, content, *log)
        assert ended == status and said.startswith(told), said


@pytest.mark.parametrize("locale", LOCALES)
def test_the_page_is_in_the_language_of_the_proof(locale: str) -> None:
    made = scene(locale=locale)
    page = readme(
        made.request,
        ["signed/a.pdf", "uploaded/a.pdf"],
        sealing_context().roots("sandbox"),
        stamped=True,
        included=True,
    )
    text = page.decode()
    assert f'<html lang="{locale}" dir="{"rtl" if locale == "ar" else "ltr"}">' in text
    assert str(made.request.pk) in text and "{" not in text.replace("{ ", "") and "SHA-256: " in text


def test_what_comes_to_it_later_makes_another_and_the_first_timestamp_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    made = sealed_without_timestamps(monkeypatch)
    SignatureRequest.objects.update(finalized=True, status="completed")
    before = bundle_of(made)
    assert checked(before).ok
    assert preserve.preserve_due() == 2
    after = bundle_of(made)
    assert after != before and BundleTimestamp.objects.count() == 2
    found = checked(after)
    assert found.ok and any("was timestamped beside the file" in each for each in found.matches), found.problems
    assert any(name.startswith(asic.REVOCATION) for name in parts_of(after))


def test_an_erased_person_is_not_in_it_and_its_journal_still_holds() -> None:
    made = finished()
    assert made.signers[0].email.encode() in parts_of(bundle_of(made))[asic.JOURNAL]
    erase_signer(OPERATOR, made.signers[0].pk)
    bundle = bundle_of(made)
    assert made.signers[0].email.encode() not in parts_of(bundle)[asic.JOURNAL]
    assert checked(bundle).ok
    entries: list[dict[str, Any]] = json.loads(parts_of(bundle)[asic.JOURNAL])
    shown = next(each["ip"] for each in entries if each["event_type"] == EventType.SIGNED)
    assert re.fullmatch("[0-9a-f]{64}", shown), "what the hash covers, so that nothing can be put in its place"


def test_it_is_there_once_finalized_and_goes_with_the_files() -> None:
    with pytest.raises(DomainError, match="has no files"):
        open_bundle(scene().request.pk)
    made = finished()
    bundle_of(made)
    assert delete_files(made.request.pk) == 1
    assert not BundleTimestamp.objects.exists()
    with pytest.raises(DomainError, match="or none any more"):
        open_bundle(made.request.pk)
    with pytest.raises(FileNotFoundError):  # as in a download that began before the deletion
        make._keep_new(made.request, b"0" * 32)


def test_a_file_that_is_not_the_recorded_one_is_not_packed() -> None:
    made = finished()
    key = SealedDocument.objects.get().object_key
    store.put(key, b"another")
    with pytest.raises(DomainError, match="is not the one that was recorded"):
        open_bundle(made.request.pk)
    store.delete(key)
    with pytest.raises(DomainError, match="no longer exists"):
        open_bundle(made.request.pk)


def test_without_an_authority_it_has_no_timestamp_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    made = finished()
    monkeypatch.setattr(make, "sealing_context", silent)
    with pytest.raises(DomainError, match="No timestamp could be had") as refused:
        open_bundle(made.request.pk)
    assert refused.value.code == "unavailable"
    monkeypatch.setattr(make, "sealing_context", _without_authorities)
    bundle = bundle_of(made)
    assert "asks no timestamp authority" in parts_of(bundle)[asic.README].decode()
    found = checked(bundle)
    assert (found.verdict.indication, found.verdict.sub_indication) == ("INDETERMINATE", "NO_POE")
    assert found.problems == ["The bundle has no timestamp, so nobody says that these are all of its files."]


def _without_authorities() -> SealingContext:
    context = sealing_context()
    return replace(context, timestamping=replace(context.timestamping, authorities=[]))


def test_names_are_those_of_files_and_each_is_there_once() -> None:
    taken: set[str] = set()
    given = ["../a/b:c.pdf", "../a/b:c.PDF", "", "...", "-rf.pdf", "a\nb", "x" * 300, "Zoë.pdf"]
    names = [free_name(name, taken) for name in given]
    assert names[:6] == ["_a_b_c.pdf", "_a_b_c-2.pdf", "document.pdf", "document-2.pdf", "rf.pdf", "a_b.pdf"]
    assert len(names[6]) == 204 and names[7] == "Zoë.pdf"
    odd = ["-.hidden.pdf", "- .-. x.pdf", ". -..pdf", "-" * 9, "\x85\u202e.pdf", "e\u0301 é", "%2e%2e.pdf", "CON.PDF"]
    assert all(re.fullmatch(asic._PDF, free_name(name, taken)) for name in odd), "none is hidden, by a point before it"


def test_the_journal_goes_on_where_that_of_the_proof_ends() -> None:
    made = finished()
    entries = Entry.objects.filter(request=made.request).count()
    [told] = [each for each in checked(bundle_of(made)).matches if asic.JOURNAL in each]
    assert told.startswith(f"The {entries} entries of journal.json follow")


@pytest.fixture
def logged(data_dir: Path) -> Scene:
    """Return a finished request whose proof becomes entry 3 with the next run of the log."""
    proofs(3)
    log_proofs()
    made = finished()
    ProofFile.objects.filter(request=made.request).update(log_index=None)  # as for a new proof of production
    return made


def test_it_has_the_proof_of_inclusion_once_there_is_one(logged: Scene) -> None:
    before = parts_of(bundle_of(logged))
    assert asic.INCLUSION not in before and b"contains no proof of inclusion" in before[asic.README]
    log_proofs()
    after = parts_of(bundle_of(logged))
    page = after[asic.README].decode()
    assert "no proof of inclusion" not in page and f"--inclusion {asic.INCLUSION}" in page
    sha256 = bytes(ProofFile.objects.get(request=logged.request).sha256)
    assert check_tlog_proof(after[asic.INCLUSION].decode(), sha256, of_log(own_key().log)).size == 4


@pytest.mark.django_db(transaction=True)
def test_whose_log_counts_is_said_by_who_verifies(logged: Scene, tmp_path: Path, live_server: Any) -> None:
    file, policy = tmp_path / "bundle.zip", tmp_path / "policy.txt"
    unlogged = bundle_of(logged)
    log_proofs()
    bundle, entry = bundle_of(logged), f"proof.pdf is entry 3 of the log {own_key().log.name}."
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


def test_a_proof_of_inclusion_put_in_later_is_an_alteration(logged: Scene) -> None:
    bundle = bundle_of(logged)
    log_proofs()
    inclusion = parts_of(bundle_of(logged))[asic.INCLUSION]
    assert checked(made_anew(bundle, {asic.INCLUSION: inclusion})).verdict.word == "altered"


def test_the_page_for_anybody_knows_its_own_log(logged: Scene) -> None:
    log_proofs()
    bundle, word = bundle_of(logged), f"is entry 3 of the log {own_key().log.name}."
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
