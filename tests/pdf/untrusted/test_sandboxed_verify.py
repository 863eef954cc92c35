"""Verification in the sandbox finds what the functions find in process, keeps within bounds and loads nothing late."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest

from lab.fuzz.altered import authorities
from lab.fuzz.altered.genuine import genuine
from lab.fuzz.altered.legitimate import stamped_by_pyhanko
from paraph.kernel import clock
from paraph.kernel.tokens import sha256
from paraph.pdf.report import Verification
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp, DetachedTimestampsRefused, timestamps_file
from paraph.pdf.timestamps.timestamp import stamp_time
from paraph.pdf.untrusted import sandbox, verify
from paraph.pdf.untrusted.sandbox import Sandbox, SandboxLimits
from paraph.pdf.untrusted.sandbox_wire import from_plain, to_plain
from paraph.pdf.verification import evidence_check
from paraph.pdf.verification import verify as in_process
from tests.pdf import hostile, odd_files
from tests.pdf.levels import long_term
from tests.pdf.odd_files.encrypted import locked
from tests.pdf.pdf_factory import chinese, paper, text
from tests.pdf.sealed_files import authority, sealed, timestamping
from tests.pdf.surroundings import signature, signed_by
from tests.pdf.verification.test_evidence_check import evidence, proven, signed, uploaded

ROOTS = [authority("p-256").root]
EARLIER = Path(__file__).parents[1] / "issued_before"


@cache
def archived() -> bytes:
    pdf = paper(text("A contract", 100, 700))
    return sealed(pdf, at=clock.now(), timestamping=timestamping(), long_term=long_term()).content


@cache
def kept() -> DetachedTimestamp:
    token, _ = stamp_time(sha256(signed()), timestamping())
    assert token
    return DetachedTimestamp(token.token)


FILES: dict[str, Any] = {
    "archived": archived,
    "archived, with a byte more": lambda: archived() + b"x",
    "signed": signed,
    "sealed again": lambda: sealed(archived(), at=clock.now(), timestamping=timestamping()).content,
    "an earlier signature that nobody can read": lambda: sealed(signed_by(signature(ByteRange=None))).content,
    "Chinese": lambda: sealed(chinese("合同"), at=clock.now()).content,
    "not sealed": uploaded,
    "no PDF": lambda: b"hello",
    "empty": lambda: b"",
    "looping pages": hostile.looping_pages,
    "noise": hostile.noise,
    "issued before": (EARLIER / "signed.pdf").read_bytes,
}


@pytest.mark.parametrize("kind", FILES)
def test_it_is_what_the_functions_find_in_process(kind: str) -> None:
    pdf = FILES[kind]()
    for signers in ([], ["Mallory"]):
        found = verify.verify(pdf, ROOTS, signers=signers)
        assert to_plain(found) == to_plain(in_process.verify(pdf, ROOTS, signers=signers))


def test_metadata_that_another_program_wrote_anew_is_read() -> None:
    stamped = stamped_by_pyhanko(genuine("proof B-LTA"))
    assert stamped.count(b"/XML") > genuine("proof B-LTA").count(b"/XML")
    found = verify.verify(stamped, [authorities.authority().root])
    assert found.ok and found.level == "B-LTA", found.findings


@pytest.mark.parametrize("kind", odd_files.CLASSES)
def test_odd_files_are_read_as_in_process(kind: str) -> None:
    """They include every kind of encryption: what a library opens when it first meets one is already open."""
    pdf = odd_files.odd_file(kind, 1, 0)
    assert verify.verify(pdf, ROOTS).findings == in_process.verify(pdf, ROOTS).findings


@pytest.mark.parametrize("revision", [4, 5, 6])
def test_encrypted_files_that_were_sealed_are_valid(revision: int) -> None:
    encrypted = locked(Random(3), revision=revision)
    assert verify.verify(sealed(encrypted, at=clock.now()).content, ROOTS).ok


def test_an_open_file_is_read_whole_whatever_its_position(tmp_path: Path) -> None:
    (tmp_path / "signed.pdf").write_bytes(archived())
    with (tmp_path / "signed.pdf").open("rb") as file:
        file.seek(100)
        assert verify.verify(file, ROOTS).ok


def test_evidence_is_checked_as_in_process() -> None:
    files = {"signed.pdf": signed(), "uploaded.pdf": uploaded(), "proof.pdf": proven(evidence())}
    for wrong in ({}, {"uploaded.pdf": uploaded() + b" "}, {"signed.pdf": b""}, {"another.pdf": b"x"}):
        kept_beside = {"signed.pdf": [kept()]}
        found = verify.check_evidence(files | wrong, ROOTS, kept_beside)
        assert to_plain(found) == to_plain(evidence_check.check_evidence(files | wrong, ROOTS, kept_beside))
        assert found.ok == (not wrong)


def test_files_of_timestamps_are_read() -> None:
    content = timestamps_file({sha256(signed()): ("signed.pdf", [kept()])})
    assert [verify.read_timestamps(content, each) for each in (signed(), b"another")] == [[kept()], []]
    assert verify.verify(signed(), ROOTS, [kept()]).detached_timestamps
    for wrong in (b"", b"{}", b"[" * 100_000, b'{"format":"paraph-timestamps/1","files":[%s1]}' % (b"{}," * 200_000)):
        with pytest.raises(DetachedTimestampsRefused):
            verify.read_timestamps(wrong, signed())


def test_no_more_files_than_one_message_takes() -> None:
    found = verify.check_evidence({f"{number}.pdf": b"x" for number in range(254)}, ROOTS)
    assert found.problems == ["At most 253 files can be compared at a time."] and not found.ok


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pool = Sandbox(1, SandboxLimits(memory=32 << 20, processor_seconds=2), program="verifying_worker")
    monkeypatch.setattr(verify, "verification_sandbox", lambda: pool)
    yield
    pool.close()


@pytest.mark.thorough
@pytest.mark.usefixtures("narrow")
def test_what_takes_more_than_it_may_is_not_valid() -> None:
    large = archived() + b" " * (40 << 20)
    found = verify.verify(large, ROOTS)
    assert not found.ok and found.findings == [f"The file {verify.TOO_MUCH}."]
    compared = verify.check_evidence({"proof.pdf": proven(evidence()), "signed.pdf": large}, ROOTS)
    assert not compared.ok and verify.TOO_MUCH in compared.problems[0]
    with pytest.raises(DetachedTimestampsRefused, match="needs more than 512 MB or 10 seconds"):
        verify.read_timestamps(b"{}", large)
    assert verify.verify(archived(), ROOTS).ok


def test_calls_that_belong_together_have_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "VERIFICATION_LIMITS", SandboxLimits(processor_seconds=1))
    before, content = sandbox.verification_sandbox().spent, archived()
    with verify.together(1):
        while (found := verify.verify(content, ROOTS)).ok:
            assert sandbox.verification_sandbox().spent - before < 2
    assert found.findings == [f"The file {verify.TOO_MUCH}."]
    assert sandbox.verification_sandbox().spent - before > 1 and verify.verify(content, ROOTS).ok


def test_uploads_and_verification_share_no_process() -> None:
    verify.verify(signed(), ROOTS)
    assert sandbox.verification_sandbox() is not sandbox.sandbox()


_NEVER_CALLED = {
    **dict.fromkeys(("PIL", "PIL.ImageCms", "PIL.TiffTags"), "pikepdf's reading of images"),
    "PIL.Image": "pypdfium2's pictures for Pillow",
    "dateutil.parser": "pyHanko's trust lists",
    **dict.fromkeys(("lxml", "lxml.etree"), "pikepdf's metadata"),
    "numpy": "pypdfium2's pictures for numpy",
    "oscrypto": "the roots of the operating system",
    "pyhanko.pdf_utils.crypt._saslprep": "passwords, of which only the empty one is tried",
    **dict.fromkeys((f"pyhanko.pdf_utils.{part}" for part in ("font.opentype", "images", "qr")), "stamps"),
    "pyhanko.pdf_utils.metadata.xmp_xml": "metadata, which our own reader compares",
    "qrcode": "stamps",
    "tabulate": "pypdfium2's command line",
}
"""Modules that readers of PDF import within functions, and what for: verifying a file needs none of them."""


_WARM_UPS = {
    "verifying": "from paraph.pdf.untrusted.jobs.verifying_worker import JOBS, warm_up_verification as warm_up",
    "reading": "from paraph.pdf.untrusted.jobs.worker import JOBS, warm_up",
}


@pytest.mark.parametrize("worker", _WARM_UPS)
def test_what_readers_import_when_they_need_it_is_loaded_before(worker: str) -> None:
    """Every import within a function of a loaded module counts, as a file may make the readers need it."""
    script = f"{_WARM_UPS[worker]}\n{_WITHIN_FUNCTIONS}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= _NEVER_CALLED.keys()


_WITHIN_FUNCTIONS = """
import ast, importlib.util, sys
from pathlib import Path

warm_up(JOBS)
loaded = {name: module for name, module in sys.modules.items() if getattr(module, "__spec__", None)}
readers = {"pyhanko", "pyhanko_certvalidator", "asn1crypto", "pikepdf", "pypdfium2"}
for name, module in loaded.items():
    path = module.__spec__.origin or ""
    if name.partition(".")[0] not in readers or not path.endswith(".py"):
        continue
    functions = [node for node in ast.walk(ast.parse(Path(path).read_text())) if isinstance(node, ast.FunctionDef)]
    for node in (node for function in functions for node in ast.walk(function)):
        wanted = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(relative, module.__spec__.parent)
            wanted = [base, *(f"{base}.{alias.name}" for alias in node.names if hasattr(loaded.get(base), "__path__"))]
        for each in wanted:
            is_attribute = hasattr(loaded.get(each.rpartition(".")[0]), each.rpartition(".")[2])
            if each not in loaded and not is_attribute:
                print(each)
"""


@dataclass(frozen=True)
class _Inner:
    content: bytes
    kind: Literal["a", "b"] = "a"


@dataclass(frozen=True)
class _Outer:
    count: int
    holds: bool
    inner: _Inner | None
    several: tuple[_Inner, ...] = ()
    by_name: dict[str, list[int]] | None = None


def test_values_travel_with_all_fields_of_any_dataclass() -> None:
    value = _Outer(3, True, _Inner(b"\xff"), (_Inner(b"", "b"),), {"a": [1, 2]})
    assert from_plain(_Outer, to_plain(value)) == value
    assert from_plain(_Outer, to_plain(replace(value, inner=None, by_name=None))).inner is None
    report = in_process.verify(archived(), ROOTS)
    again = from_plain(Verification, to_plain(report))
    assert to_plain(again) == to_plain(report) and again.signatures[0] == report.signatures[0] and again.ok
    plain = to_plain(value)
    changes: list[dict[str, Any]] = [{"count": True}, {"count": "3"}, {"holds": 1}, {"more": 1}, {"several": {}}]
    changes += [{"inner": {"content": "/w==", "kind": "c"}}, {"inner": {"content": "?", "kind": "a"}}, {"inner": []}]
    lacking = {name: plain[name] for name in plain if name != "holds"}
    for each in ([], lacking, *(plain | change for change in changes)):
        with pytest.raises((TypeError, ValueError)):
            from_plain(_Outer, each)


def test_an_answer_of_another_form_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    class Confused:
        spent = 0.0

        def call(self, *_: Any, **__: Any) -> Any:
            return {"value": {"ok": True}}, b""

    monkeypatch.setattr(verify, "verification_sandbox", Confused)
    assert verify.verify(b"x", ROOTS).findings == [f"The file {verify.TOO_MUCH}."]
    assert not verify.check_evidence({"a": b"x"}, ROOTS).ok
