"""`paraph verify`: its output, its exit status, and its bounds on memory and time where a file was made to exhaust
it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from cryptography.hazmat.primitives.asymmetric import ec

from paraph.cli import main
from paraph.kernel import clock
from paraph.keys import development_authority
from paraph.keys.development import issue_root, issue_sealing
from paraph.keys.signing_key import LocalKey
from paraph.pdf.pki.certificate import Identity
from paraph.pdf.timestamps.timestamp import stamp_time
from tests.cli.measured import measured
from tests.pdf import hostile, hostile_proofs
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import authority, root_file, sealed, timestamping
from tests.pdf.surroundings import signature, signed_by
from tests.pdf.verification.test_evidence_check import evidence, proven, signed, uploaded
from tests.receiver import answer, own_authority, receiver


@pytest.fixture
def file(tmp_path: Path) -> Path:
    pdf = sealed(paper(text("A contract", 100, 700)), at=clock.now(), timestamping=timestamping()).content
    (tmp_path / "sealed.pdf").write_bytes(pdf)
    return tmp_path / "sealed.pdf"


@pytest.fixture
def tied(tmp_path: Path) -> list[Path]:
    """An upload, its proof and its signed file."""
    files = {"uploaded.pdf": uploaded(), "proof.pdf": proven(evidence()), "signed.pdf": signed()}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    return [tmp_path / name for name in files]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["verify", *map(str, arguments)])


def test_a_trusted_file_ends_with_0(file: Path, tmp_path: Path) -> None:
    result = run(file, "--root", root_file(tmp_path))
    assert result.exit_code == 0, result.output
    assert result.output.startswith(f"{file}: holds.\n")
    assert "PAdES level B-T, 1 signature." in result.output
    assert "Timestamped on" in result.output and "covers the whole file" in result.output


def test_one_bad_file_among_good_ones_ends_with_1(file: Path, tmp_path: Path) -> None:
    changed, root = tmp_path / "changed.pdf", root_file(tmp_path)
    changed.write_bytes(file.read_bytes() + b"%")
    result = run(file, changed, "--each", "--root", root)
    assert result.exit_code == 1 and result.output.endswith("\n1 of 2 files hold.\n")
    assert f"{file}: holds.\n" in result.output
    assert f"\n{changed}: was altered: The file was changed after Seal: from byte" in result.output
    result = run(file, changed, "--each", "--root", root, "--json")
    told = [json.loads(line) for line in result.output.splitlines()]
    assert result.exit_code == 1
    assert [(each["file"], each["ok"]) for each in told] == [(str(file), True), (str(changed), False)]
    assert told[0]["timestamp"]["authority"] == "Paraph Development Timestamp Authority"


def test_the_roots_of_the_service_are_those_of_its_folder(file: Path, tmp_path: Path) -> None:
    ours = development_authority(tmp_path / "service" / "keys", b"s" * 32)
    own = tmp_path / "own.pdf"
    own.write_bytes(sealed(paper(text("x", 9, 9)), key=ours.sealing_key, at=clock.now()).content)
    assert run(own, "--data-dir", tmp_path / "service").exit_code == 0
    result = run(file, "--data-dir", tmp_path / "service")
    assert result.exit_code == 1 and "is not trusted" in result.output


def test_without_any_root_it_says_how_to_name_one(file: Path, tmp_path: Path) -> None:
    result = run(file, "--data-dir", tmp_path / "nothing")
    assert result.exit_code == 1 and "paraph-data/keys/development/root.pem" in result.output
    assert "No root is trusted: name the PEM file of the service's root with --root" in result.output
    (tmp_path / "proof.pdf").write_bytes(proven(evidence()))
    assert "No root is trusted" in run(file, tmp_path / "proof.pdf", "--data-dir", tmp_path / "nothing").output
    assert not (tmp_path / "nothing").exists()


def test_files_of_another_kind_are_told(file: Path, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("hello")
    result = run(tmp_path / "note.txt", "--root", root_file(tmp_path), "--json")
    assert result.exit_code == 1 and json.loads(result.output)["intact"] is False
    result = run(file, "--root", file)
    assert result.exit_code == 1 and "holds no certificate in PEM form." in result.output
    result = run(file, "--root", root_file(tmp_path), "--evidence", tmp_path / "note.txt")
    assert result.exit_code == 1 and result.output == "The timestamps are neither JSON of paraph nor a token.\n"


def test_a_proof_is_tied_to_its_files_in_any_order(tied: list[Path], tmp_path: Path) -> None:
    root = root_file(tmp_path)
    result = run(*tied, "--root", root)
    assert result.exit_code == 0 and result.output.endswith("\nEverything matches.\n"), result.output
    assert json.loads(run(*reversed(tied), "--root", root, "--json").output)["ok"] is True
    result = run(*tied[1:], "--root", root)  # somebody may never have had the upload
    assert result.exit_code == 0 and result.output.endswith("\nEverything that was given matches.\n"), result.output
    assert "not compared: No file that was given is the uploaded file" in result.output
    result = run(tied[1], "--root", root)
    assert result.exit_code == 0 and "nothing was compared with it" in result.output
    tied[0].write_bytes(uploaded() + b" ")
    result = run(*tied, "--root", root)
    assert result.exit_code == 1 and "NOT OK: No file that was given is the uploaded file" in result.output


_TOKENS: dict[str, tuple[list[str], int, str]] = {
    "of the signed file": (["signed.pdf"], 0, "signed.pdf was timestamped beside the file"),
    "of the proof": (["proof.pdf"], 0, "proof.pdf was timestamped beside the file"),
    "one of each": (["proof.pdf", "signed.pdf"], 0, "signed.pdf was timestamped beside the file"),
    "one of another file": (["signed.pdf", "other.pdf"], 1, "other.pdf.tsr is a timestamp of none of the files."),
    "damaged": (["damaged.pdf"], 1, "Timestamp 1 beside the file does not count: the signature cannot be read"),
}


@pytest.mark.parametrize("each", [[], ["--each"]])
@pytest.mark.parametrize("kind", _TOKENS)
def test_a_lone_token_is_for_the_file_that_it_is_of(kind: str, each: list[str], tmp_path: Path) -> None:
    files = {"proof.pdf": proven(evidence()), "signed.pdf": signed()}
    stamped, status, told = _TOKENS[kind]
    options: list[str | Path] = ["--root", root_file(tmp_path), "--details", *each]
    for name, content in (dict.fromkeys(stamped, b"other") | files).items():
        (tmp_path / name).write_bytes(content)
        stamp, _ = stamp_time(sha256(content).digest(), timestamping())
        assert stamp is not None
        token = tmp_path / f"{name}.tsr"
        token.write_bytes(stamp.token[:-9] if name == "damaged.pdf" else stamp.token)
        options += ["--evidence", token] if name in stamped else []
    result = run(*(tmp_path / name for name in files), *options)
    assert result.exit_code == status, result.output
    assert told in result.output or (each and "Timestamped beside the file, as it is now" in result.output)


def test_what_holds_is_told_briefly_and_at_length_on_demand(file: Path, tied: list[Path], tmp_path: Path) -> None:
    """What a file is, by whom and when, and whatever is not as it should be, is never left out."""
    root = root_file(tmp_path)
    brief, long = (run(file, "--root", root, *option).output.splitlines() for option in ([], ["--details"]))
    assert set(brief) < set(long) and len(brief) <= 6
    for kept in ("Sealed by ", "Timestamped on ", "document of signature request 71 (production)"):
        assert any(kept in line for line in brief), kept
    left_out = [line.strip() for line in long if line not in brief]
    assert [line.startswith(("The signer's certificate is ", "Level B-")) for line in left_out] == [True, True]
    wrong = run(file, "--root", root, "--signer", "Mallory").output
    assert wrong == run(file, "--root", root, "--signer", "Mallory", "--details").output
    brief, long = (run(*tied, "--root", root, *option).output.splitlines() for option in ([], ["--details"]))
    assert len(brief) == 5 and f"  ok: {len(long) - 2} statements in all; --details tells each of them." == brief[-2]
    assert sum("of signature request 71 (production), intact and trusted." in line for line in brief) == 2


def test_an_earlier_signature_that_nobody_can_read_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(sealed(signed_by(signature(ByteRange=None)), at=clock.now(), timestamping=timestamping()).content)
    result = run(file, "--root", root_file(tmp_path))
    assert result.exit_code == 0 and "holds.\n  PAdES level B-T, 2 signatures.\n" in result.output
    assert "The signature Old cannot be read: its /ByteRange is not an array of four whole numbers." in result.output


def test_a_signer_may_be_demanded(file: Path, tied: list[Path], tmp_path: Path) -> None:
    own, root = Identity(authority("p-256").sealing_key.certificate), root_file(tmp_path)
    colons = ":".join(own.sha256[place : place + 2] for place in range(0, 64, 2)).upper()
    for wanted in (own.name, own.subject, own.sha256, colons):
        assert run(file, "--root", root, "--signer", "Mallory", "--signer", wanted).exit_code == 0
    for wanted in ("Mallory GmbH", "Paraph", own.sha256[:32], ""):
        result = run(file, "--root", root, "--signer", wanted)
        assert result.exit_code == 1 and f"It is not sealed by {wanted}." in result.output
    given: list[str | Path] = [*tied, "--root", root, "--signer", "Paraph Development Seal"]
    assert run(*given, "--signer", "Paraph Development Proof").exit_code == 0
    result = run(*given)
    assert result.exit_code == 1 and "It is not sealed by Paraph Development Seal." in result.output


def test_several_files_without_a_proof_are_not_tied(file: Path, tmp_path: Path) -> None:
    """Somebody may have put a sealed file in the place of the proof."""
    other = tmp_path / "proof.pdf"
    other.write_bytes(file.read_bytes())
    result = run(file, other, "--root", root_file(tmp_path))
    assert result.exit_code == 1 and result.output.endswith("\nNOT everything matches.\n")
    told = "One proof file is needed; 0 of the files are proofs; with --each, each file is verified by itself."
    assert told in result.output
    assert json.loads(run(file, other, "--root", root_file(tmp_path), "--json").output)["ok"] is False
    result = run(file, other, "--root", root_file(tmp_path), "--each")
    assert result.exit_code == 0 and result.output.endswith("\nAll 2 files hold.\n")


HOSTILE = [
    "x\nEverything matches.\n",
    "x\r\nsigned.pdf: holds.",
    "\x1b[3A\x1b[Jsigned.pdf: holds.\x1b[8m",
    "\x9b2J\x85next",
    "\u202e.sdloh :fdp.dengis",
    "a\u2066b\u2069\u2028c\u2029d\x00\x7f",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_others_chose_write_no_line_of_their_own(name: str, tmp_path: Path) -> None:
    """Names of a certificate, of a file, and of a demanded signer."""
    above, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    chain = [issue_sealing(above, key.public_key(), name), issue_root(above)]
    forged = sealed(paper(text("x", 9, 9)), key=LocalKey(key, chain), at=clock.now()).content
    file = tmp_path / (name.replace("/", "").replace("\x00", "") + ".pdf")
    file.write_bytes(forged)
    root = root_file(tmp_path)
    signer = name.replace("\x00", "")
    for arguments in ([file, "--details", "--signer", signer], [file, root, "--each"], [file, root]):
        result = run(*arguments, "--root", root)
        verdict, *lines = result.output.removesuffix("\n").split("\n")
        assert result.exit_code == 1 and all(line.isprintable() for line in [verdict, *lines]), result.output
        assert ": cannot be told" in verdict
        assert not any(line.lstrip().startswith(("Everything", "signed.pdf: holds", "All ")) for line in lines)
        found = run(*arguments, "--root", root, "--json").output
        assert found.replace("\n", "").isprintable() and found.isascii()


def test_whether_it_held_then(file: Path, tmp_path: Path) -> None:
    now, root = clock.now(), root_file(tmp_path)
    held = run(file, "--root", root, "--at", now.isoformat())
    assert held.exit_code == 0 and held.output.startswith(f"{file}: holds, as of {clock.iso(now)}.\n"), held.output
    yesterday = (now - timedelta(days=1)).date().isoformat()
    told = f"{file}: cannot be told, as of {yesterday}T23:59:59Z: The file was not sealed yet.\n"
    assert (run(file, "--root", root, "--at", yesterday).output, held.exit_code) == (told, 0)
    found = run(file, "--root", root, "--at", f"{yesterday}T10:00:00+02:00", "--json")
    assert found.exit_code == 1 and json.loads(found.output)["as_of"] == f"{yesterday}T08:00:00.000Z"
    (tmp_path / "proof.pdf").write_bytes(proven(evidence()))
    file.write_bytes(signed())
    both = run(file, tmp_path / "proof.pdf", "--root", root, "--at", yesterday)
    assert both.output.startswith(f"The proof with its files: cannot be told, as of {yesterday}T23:59:59Z.\n")
    for given in (now.date().isoformat(), "soon", "0001-01-01T00+09"):
        refused = run(file, "--root", root, "--at", given)
        why = "is still to come" if given[0] == "2" else "is neither"
        assert refused.exit_code == 2 and why in refused.output


def test_roots_may_be_had_at_an_address(file: Path, tmp_path: Path) -> None:
    (tmp_path / "tls").mkdir()
    roots, tls = root_file(tmp_path).read_bytes(), own_authority(tmp_path / "tls", "localhost")
    trust = {"SSL_CERT_FILE": str(tmp_path / "tls/root.pem"), "PARAPH_ALLOW_PRIVATE_ADDRESSES": "true"}

    def verified(address: str) -> str:
        command = [sys.executable, "-m", "paraph", "verify", str(file), "--root", address]
        done = subprocess.run(command, env=os.environ | trust, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    with receiver(answer(body=roots), tls.server) as server:
        address = server.url(path="/verify/roots.pem")
        assert verified(address).startswith(f"{file}: holds.\n")
        server.behave = answer(body=b"x" * (2 << 20))
        assert "is larger than" in verified(address)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://sign.example.org/verify/roots.pem", "must start with https://"),
        ("https://127.0.0.1/roots.pem", "has an address that is not public"),
        ("https://user:secret@sign.example.org/", "must not contain a user name"),
    ],
)
def test_an_address_of_roots_is_guarded(file: Path, monkeypatch: pytest.MonkeyPatch, address: str, why: str) -> None:
    monkeypatch.setenv("PARAPH_ALLOW_PRIVATE_ADDRESSES", "false")
    result = run(file, "--root", address)
    assert result.exit_code == 1 and why in result.output


TOO_MUCH = "needs more than 512 MB or 10 seconds to be read"
UNREADABLE = "The evidence of {} cannot be read: "

HOSTILE_PROOFS: dict[str, tuple[Callable[[], bytes], str]] = {
    "evidence deflated twice": (lambda: hostile_proofs.deflated(2), UNREADABLE + "it is packed otherwise"),
    "evidence deflated three times": (lambda: hostile_proofs.deflated(3), UNREADABLE + "it is packed otherwise"),
    "evidence of gigabytes": (lambda: hostile_proofs.deflated(1), UNREADABLE + "it is longer than 16 MB"),
    "evidence of millions of values": (hostile_proofs.many_values, UNREADABLE + "it is longer than 16 MB"),
    "evidence of many values": (lambda: hostile_proofs.many_values(2_000_000), UNREADABLE + "it has too many values"),
    "evidence nested deeply": (hostile_proofs.nested, UNREADABLE + "its values are nested too deeply"),
    "a costly journal": (hostile_proofs.costly_journal, "NOT OK: "),
    "pages of one text": (hostile_proofs.pages_of_one_text, TOO_MUCH),
}


def refused_within_the_bounds(folder: Path, files: list[Path], sentence: str) -> None:
    """Verifying ends with a sentence and status 1, within 512 MiB and 10 s of processor time in all."""
    found = measured("verify", *files, "--root", root_file(folder))
    assert found.status == 1 and sentence in found.output and not found.errors, found
    assert found.peak < 512 << 20 and found.processor < 10.0, found


@pytest.mark.thorough
@pytest.mark.parametrize("kind", HOSTILE_PROOFS)
def test_hostile_proofs_are_refused_within_the_bounds(kind: str, tmp_path: Path) -> None:
    make, sentence = HOSTILE_PROOFS[kind]
    proof, other = tmp_path / "proof.pdf", tmp_path / "signed.pdf"
    proof.write_bytes(make())
    other.write_bytes(paper(text("A contract", 100, 700)))
    refused_within_the_bounds(tmp_path, [proof, other], sentence.format(proof))


@pytest.mark.thorough
@pytest.mark.parametrize("make", [hostile.packed_objects, hostile.long_array, hostile.deep_arrays])
def test_hostile_files_are_not_valid_within_the_bounds(make: Callable[[], bytes], tmp_path: Path) -> None:
    file = tmp_path / "signed.pdf"
    file.write_bytes(make())
    refused_within_the_bounds(tmp_path, [file], ": cannot be told: ")


@pytest.mark.thorough
def test_a_file_of_gigabytes_is_not_valid_within_the_bounds(tmp_path: Path) -> None:
    file = tmp_path / "signed.pdf"
    with file.open("wb") as sparse:
        sparse.truncate(3 << 30)
    refused_within_the_bounds(tmp_path, [file], TOO_MUCH)


@pytest.mark.thorough
def test_a_pipe_is_read_once_and_judged_as_a_file(tmp_path: Path) -> None:
    content, pipe = sealed(paper(text("A contract", 100, 700)), at=clock.now()).content, tmp_path / "pipe"
    for extra, status in ((b"", 0), (b"x", 1)):
        os.mkfifo(pipe)
        with ThreadPoolExecutor(1) as threads:
            writing = threads.submit(pipe.write_bytes, content + extra)
            assert measured("verify", pipe, "--root", root_file(tmp_path)).status == status
            writing.result()
        pipe.unlink()
