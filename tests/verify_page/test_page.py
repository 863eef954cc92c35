"""``/verify``: what it says of files, in plain words of the visitor's language, and that it keeps nothing of them. A
running service is asked too, as the docs say."""

import hashlib
import http.client
import json
import logging
import re
import subprocess
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric import ec
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.text import capfirst

from paraph import words as catalog
from paraph.cli import main
from paraph.counts.models import Count
from paraph.flow.sealing.context import development
from paraph.kernel import clock
from paraph.keys.certificates import read_roots
from paraph.keys.development import issue_root, issue_sealing
from paraph.keys.signing_key import LocalKey
from paraph.pdf.refusal import ReadersUnavailable
from paraph.pdf.report import EvidenceCheck, SealTimestamp, Verification
from paraph.pdf.untrusted import sandbox
from paraph.pdf.verdict import Fault, SubIndication, Word, decide
from paraph.pdf.verification.proof_file import evidence_of
from paraph.pdf.verification.verify import verify
from paraph.verify_page import verdicts
from paraph.words import LOCALES
from tests.bundle.bundles import bundle_of, finished
from tests.cli.service import Service
from tests.independent import need
from tests.pdf.pdf_factory import paper, text
from tests.pdf.processes import children
from tests.pdf.sealed_files import sealed
from tests.pdf.verification.test_evidence_check import ISSUED_BEFORE, issued_before
from tests.production import Client

pytestmark = pytest.mark.django_db

ROOT = ISSUED_BEFORE / "root.pem"
SOURCE = Path(verdicts.__file__).parent
[SEAL, *_] = verify((ISSUED_BEFORE / "signed.pdf").read_bytes(), read_roots(ROOT)).signatures


@pytest.fixture(autouse=True)
def _a_root_that_the_operator_adds(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.PARAPH, "verify_roots", ROOT)


def asked(files: Mapping[str, bytes], *, accept: str = "application/json", compared: Any = (), **more: Any) -> Any:
    sent = [SimpleUploadedFile(name, content, "application/pdf") for name, content in files.items()]
    body = {"file": sent, "compared": list(compared)}
    return Client().post("/verify", body, headers={"Accept": accept}, **more)


def told(files: Mapping[str, bytes], **more: Any) -> str:
    response = asked(files, accept="text/html", **more)
    return str(response.content.decode())


def printed(files: Mapping[str, bytes], folder: Path, *options: str, root: Path = ROOT) -> list[dict[str, Any]]:
    """Return what `paraph verify --json` prints about the files."""
    paths = [folder / name for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        path.write_bytes(content)
    arguments = ["verify", "--json", "--root", str(root), *options, *map(str, paths)]
    output = CliRunner().invoke(main, arguments).output.replace(f"{folder}/", "")
    return [json.loads(line) for line in output.splitlines()]


def lines(response: HttpResponse) -> list[dict[str, Any]]:
    return [json.loads(line) for line in response.content.splitlines()]


def digest_of(name: str, content: bytes) -> str:
    return f"{hashlib.sha256(content).hexdigest()} {len(content)} {name}"


def test_proof_and_files_hold_as_the_command_says(tmp_path: Path) -> None:
    files = issued_before()
    response = asked(files)
    assert response.status_code == 200 and response["Content-Type"] == "application/json"
    assert lines(response) == printed(files, tmp_path)
    assert lines(response)[0]["indication"] == "TOTAL-PASSED"
    page = told(files)
    assert "<h1>It holds.</h1>" in page and page.count("<h3>Sealed by <bdi>") == 2
    assert all(f"<li><bdi>{name}</bdi></li>" in page for name in files)
    page = told(files | {"signed.pdf": files["signed.pdf"] + b"%"})
    assert "<h1>It was altered.</h1>" in page and "<h2><bdi>signed.pdf</bdi></h2>" in page


def test_who_signed_when_is_told_where_all_of_it_holds() -> None:
    files = issued_before()
    journal = (evidence_of(files["proof.pdf"]) or {})["journal"]
    times = [each["created_at"][:19] for each in journal if each["event_type"] == "signer.signed"]
    section = told(files).split("<h2>Signers</h2>")[1].split("</section>")[0]
    assert times and re.findall(r'datetime="(.{19})Z"', section) == times
    assert section.count("<dt><bdi>") == len(times)
    altered = files | {"signed.pdf": files["signed.pdf"] + b"%"}
    assert "<h2>Signers</h2>" not in told(altered) and "<h2>Signers</h2>" not in told({"a.pdf": files["proof.pdf"]})


def test_files_without_a_proof_are_verified_each(tmp_path: Path) -> None:
    signed = issued_before()["signed.pdf"]
    files = {"one.pdf": signed, "two.pdf": signed.replace(b"/Contents", b"/Contxnts", 1), "three.pdf": b"nothing"}
    response = asked(files)
    assert response["Content-Type"] == "application/x-ndjson"
    assert lines(response) == printed(files, tmp_path, "--each")
    assert "<h1>It holds.</h1>" not in told(files)


def test_a_bundle_is_verified_as_the_command_does(tmp_path: Path) -> None:
    bundle = bundle_of(finished())
    (tmp_path / "own.pem").write_bytes(Client().get("/verify/roots.pem").content)
    for content, verdict in (
        (bundle, "TOTAL-PASSED"),
        (bundle.replace(b"SHA256SUMS", b"SHA256SUMZ"), "TOTAL-FAILED"),
        (b"PK\3\4", "TOTAL-FAILED"),
    ):
        files = {"bundle.zip": content}
        assert lines(asked(files)) == printed(files, tmp_path, root=tmp_path / "own.pem")
        assert lines(asked(files))[0]["indication"] == verdict
    page = told({"bundle.zip": bundle})
    assert "<h1>It holds.</h1>" in page and "<h2><bdi>proof.pdf</bdi></h2>" in page


def test_whom_nobody_named_is_unknown(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(settings.PARAPH, "verify_roots", None)
    signed = {"signed.pdf": issued_before()["signed.pdf"]}
    page, [answer] = told(signed), lines(asked(signed))
    assert "A seal or a timestamp is by somebody whom this service does not know." in page
    assert (answer["indication"], answer["sub_indication"]) == ("INDETERMINATE", "NO_CERTIFICATE_CHAIN_FOUND")
    assert re.search(r"<code dir=\"ltr\">[0-9a-f]{64}</code>", page)


def test_what_is_only_compared_counts_by_its_digest() -> None:
    files = issued_before()
    uploaded = files.pop("uploaded.pdf")
    [whole] = lines(asked(issued_before()))
    [answer] = lines(asked(files, compared=[digest_of("uploaded.pdf", uploaded)]))
    assert answer == whole and answer["ok"]
    page = told(files, compared=[digest_of("uploaded.pdf", uploaded)])
    assert re.search("Only compared, not sent</h2>\n.*<bdi>uploaded.pdf</bdi>", page)
    for other in (digest_of("x", uploaded + b"x"), f"{'0' * 64} 7 x"):
        [answer] = lines(asked(files, compared=[other]))
        assert (answer["sub_indication"], answer["problems"][-1]) == ("HASH_FAILURE", "The proof says nothing of x."), (
            other
        )
    [answer] = lines(asked(files, compared=[digest_of("x", uploaded).replace(" ", " 1", 1)]))
    assert answer["problems"] == ["signed.pdf does not begin with the bytes of x."]


def test_a_digest_in_the_place_of_a_signed_file_leaves_its_seal_open() -> None:
    files = issued_before()
    signed = files.pop("signed.pdf")
    [answer] = lines(asked(files, compared=[digest_of("signed.pdf", signed)]))
    assert "signed.pdf" not in answer["sealed"]
    assert "The seal of signed.pdf was not looked at: only its digest was given." in answer["notes"]


def test_it_speaks_twenty_languages() -> None:
    for locale in LOCALES:
        response = Client().get("/verify", {"lang": locale})
        assert response["Content-Language"] == locale
        assert f'dir="{catalog.direction(locale)}"' in response.content.decode()
        assert catalog.of("verify", locale)["title"] in response.content.decode()
        assert Client().get("/verify", headers={"Accept-Language": locale})["Content-Language"] == locale


def test_the_verdict_is_in_the_language_of_the_form() -> None:
    response = Client().post("/verify?lang=ar", {"file": SimpleUploadedFile("a.pdf", b"x")}, headers={"Accept": "*/*"})
    assert catalog.of("verify", "ar")["reason_signed_data_not_found"] in response.content.decode()


def test_every_word_is_said() -> None:
    source = "".join(path.read_text() for path in SOURCE.rglob("*") if path.suffix in (".html", ".py"))
    words = json.loads((catalog._FOLDER / "verify/en.json").read_text())
    assert {name for name in words if name.startswith("verdict_")} == {f"verdict_{each}" for each in get_args(Word)}
    names = [name for name in words if not name.startswith(("reason_", "verdict_"))]
    assert [name for name in names if not re.search(rf"\b{name}\b", source)] == []


def test_it_sets_no_cookie_and_may_be_kept_by_nobody() -> None:
    for response in (Client().get("/verify"), asked(issued_before(), accept="text/html")):
        assert not response.cookies and "Set-Cookie" not in response.headers
        assert response["Cache-Control"] == "no-store" and response["Referrer-Policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
        assert "csrf" not in response.content.decode()


def test_nothing_of_the_files_is_kept_or_logged(
    data_dir: Path, caplog: pytest.LogCaptureFixture, settings: Any
) -> None:
    caplog.set_level(logging.INFO)
    files = {"Contract of Ms Secret.pdf": issued_before()["signed.pdf"]}
    assert asked(files).status_code == 200
    size = len(issued_before()["signed.pdf"])
    [line] = [record.getMessage() for record in caplog.records if record.name == "paraph.verify"]
    assert re.fullmatch(rf"a verdict on {size} bytes took [\d.]+ s", line)
    assert "Secret" not in caplog.text and hashlib.sha256(files.popitem()[1]).hexdigest() not in caplog.text
    kept = [path for path in data_dir.rglob("*") if path.is_file() and b"%PDF" in path.read_bytes()[:1024]]
    assert kept == [] and Count.objects.filter(scope__contains="127.0.0.1").count() == 0


def test_an_address_has_ten_verdicts_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now)
    answers = [asked({"a.pdf": b"x"}) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    assert answers[-1]["Retry-After"] == "60" and answers[-1].json()["error"]["code"] == "too_often"
    page = asked({"a.pdf": b"x"}, accept="text/html")
    assert page.status_code == 429 and "Please try again in 60 s." in page.content.decode()
    assert asked({"a.pdf": b"x"}, REMOTE_ADDR="192.0.2.7").status_code == 200
    monkeypatch.setattr(clock, "now", lambda: now + timedelta(seconds=61))
    assert asked({"a.pdf": b"x"}).status_code == 200


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    def code(**given: Any) -> tuple[int, str]:
        response = asked(**given)
        return response.status_code, response.json()["error"]["code"]

    assert code(files={}) == (422, "no_file")
    assert code(files={f"{number}.pdf": b"x" for number in range(verdicts.MOST_FILES + 1)}) == (413, "too_many_files")
    for wrong in ("", "ab 1 x", f"{'a' * 64} -1 x", f"{'a' * 64} 1 {'x' * 300}"):
        assert code(files={"a.pdf": b"x"}, compared=[wrong]) == (400, "unreadable_form")
    monkeypatch.setattr(settings.PARAPH, "upload_limit_mb", 1)
    assert code(files={"a.pdf": bytes(3 << 20)}) == (413, "too_large")

    def busy(*_: Any, **__: Any) -> Any:
        raise ReadersUnavailable

    monkeypatch.setattr(verdicts, "verify", busy)
    response = asked({"a.pdf": b"x"})
    assert (response.status_code, response["Retry-After"]) == (503, "5")


def test_a_form_that_is_none() -> None:
    Client().get("/verify")
    headers = {"Accept": "application/json"}
    broken = Client().post("/verify", b"--x\r\nrubbish", content_type="multipart/form-data", headers=headers)
    assert broken.status_code in (400, 422)
    assert Client().post("/verify", b"{}", content_type="application/json", headers=headers).status_code == 422
    assert Client().put("/verify").status_code == 405


def test_names_are_text() -> None:
    page = told({'<img src=x onerror="x">\u202efdp.pdf': b"x", "\x1b.pdf": b"y"})
    assert "<img" not in page.replace("&lt;img", "") and "\u202e" not in page and "\x1b" not in page


def test_what_a_certificate_says_is_text() -> None:
    """The names of signer and issuer are escaped, in the English sentences too."""
    above, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    chain = [issue_sealing(above, key.public_key(), "<script>alert(1)</script>\u202e"), issue_root(above)]
    page = told({"a.pdf": sealed(paper(text("x", 9, 9)), key=LocalKey(key, chain), at=clock.now()).content})
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\ufffd" in page
    assert "<script>" not in page and "\u202e" not in page


def test_the_form_starts_the_process_that_reads_and_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = sandbox.Sandbox(2, sandbox.VERIFICATION_LIMITS, program="verifying_worker")
    monkeypatch.setitem(sandbox._pools, "verifying_worker", pool)
    before = children()
    assert Client().get("/verify").status_code == 200
    [started] = children() - before
    assert Client().get("/verify").status_code == asked({"a.pdf": b"x"}).status_code == 200
    assert children() - before == {started}
    pool.close()


def test_turned_off_it_is_not_there(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(settings.PARAPH, "verify_page", False)
    assert Client().get("/verify").status_code == Client().get("/verify/roots.pem").status_code == 404
    assert asked(issued_before()).status_code == 404


def test_the_roots_are_those_of_the_installation_alone(data_dir: Path, tmp_path: Path) -> None:
    development()
    response = Client().get("/verify/roots.pem")
    (tmp_path / "roots.pem").write_bytes(response.content)
    own = verdicts.own_roots()
    assert own and read_roots(tmp_path / "roots.pem") == own
    assert read_roots(ROOT)[0] not in own


def test_curl_gets_the_verdict(shared_service: Service) -> None:
    files = [f"-Ffile=@{ISSUED_BEFORE / name}.pdf" for name in ("proof", "signed")]
    address = f"{shared_service.base_url}/verify"
    options = ["-s", "--interface", "127.0.1.1", "-H", "Accept: application/json"]
    done = subprocess.run([need("curl", "curl"), *options, *files, address], capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert found["indication"] == "INDETERMINATE" and list(found["sealed"]) == ["proof.pdf", "signed.pdf"]


@pytest.mark.parametrize(("address", "verdicts", "megabytes", "status"), [(2, 10, 40, 429), (3, 0, 60, 413)])
def test_who_is_refused_while_sending_gets_the_answer(
    shared_service: Service, address: int, verdicts: int, megabytes: int, status: int
) -> None:
    """The client here sends everything before it reads the answer."""

    def sent(size: int) -> tuple[int, bytes]:
        head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n'
        body = head + bytes(size) + b"\r\n--x--\r\n"
        headers = {"Content-Type": "multipart/form-data; boundary=x", "Accept": "application/json"}
        host, source = urlsplit(shared_service.base_url).netloc, (f"127.0.1.{address}", 0)
        with closing(http.client.HTTPConnection(host, timeout=60, source_address=source)) as client:
            client.request("POST", "/verify", body, headers)
            answer = client.getresponse()
            return answer.status, answer.read()

    assert [sent(9)[0] for _ in range(verdicts)] == [200] * verdicts
    told = sent(megabytes << 20)
    assert (told[0], json.loads(told[1])["error"]["code"]) == (status, {429: "too_often", 413: "too_large"}[status])


def test_every_sub_indication_has_a_sentence_of_its_own() -> None:
    kinds = [kind.lower() for kind in get_args(SubIndication)]
    for locale in LOCALES:
        words = catalog.of("verify", locale)
        sentences = [words[f"reason_{kind or 'holds'}"] for kind in kinds]
        assert len(set(sentences)) == len(kinds) == sum(name.startswith("reason_") for name in words), locale


@pytest.mark.parametrize("kind", get_args(SubIndication)[1:])
def test_each_line_says_the_word_and_every_reason_in_the_language_of_the_page(kind: SubIndication) -> None:
    sentence = "Bytes 7 to 9 are others."
    report = Verification(findings=[sentence], faults=[Fault(kind, sentence), Fault("NO_POE", "It is late.")])
    stamp = SealTimestamp("Clock", clock.now(), "1.2", trusted=False, faults=(Fault(kind, sentence),))
    seal = replace(SEAL, timestamp=stamp, faults=(Fault(kind, sentence),))
    told = verdicts.as_shown({"a.pdf": replace(report, signatures=[seal])})
    [file] = told["files"]
    for line in (file, file["signatures"][0], file["signatures"][0]["timestamp"]):
        assert line["reasons"][0] == kind.lower() == told["reason"]
        assert line["verdict"] == told["verdict"] == decide(proven=False, faults=report.faults).word
    assert file["reasons"][1:] == ["no_poe"] * (kind != "NO_POE")
    about = {"verified_at": clock.now(), "host": "sign.example.org"}
    for locale in LOCALES:
        words = catalog.of("verdict", locale) | catalog.of("verify", locale)
        page = render_to_string("verify/verdict.html", {**told, **about, "words": words, "locale": locale})
        word = f"<strong>{capfirst(words[told['verdict']])}</strong>"
        assert page.count(f"{word}<span>{escape(words[f'reason_{kind.lower()}'])}</span>") == 3
        assert f'<ul class="list" lang="en" dir="ltr"><li>{sentence}</li></ul>' in page


def test_proof_and_files_together_have_a_line_with_each_reason_once() -> None:
    faults = [Fault("SIG_CONSTRAINTS_FAILURE", "One."), Fault("HASH_FAILURE", "Two."), Fault("HASH_FAILURE", "Three.")]
    told = verdicts.as_shown(EvidenceCheck(matches=["Yes."], faults=faults, notes=["Not given."]))
    assert told["verdict"] == "altered" and told["not_given"] == 1
    assert told["tied"] == {
        "verdict": "altered",
        "reasons": ["hash_failure", "sig_constraints_failure"],
        "problems": ["One.", "Two.", "Three."],
        "notes": ["Not given."],
        "matches": ["Yes."],
    }


def test_the_gravest_of_several_files_is_told_first() -> None:
    unknown = Verification.without("It is empty.")
    altered = Verification.without("It is another.", "HASH_FAILURE")
    told = verdicts.as_shown({"a.pdf": unknown, "b.pdf": altered})
    assert (told["verdict"], told["reason"]) == ("altered", "hash_failure")
    assert [file["verdict"] for file in told["files"]] == ["unknown", "altered"]
