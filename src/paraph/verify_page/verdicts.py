"""What a visitor gives, files and the digests of files that stay with the visitor; and the verdict on these, as
``paraph verify`` prints it and as the page shows it."""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParserError

from paraph.flow.housekeeping.make_room import require_disk
from paraph.flow.sealing.context import key_folder
from paraph.kernel.errors import DomainError
from paraph.keys.certificates import read_roots
from paraph.keys.sealing import trusted_roots
from paraph.pdf.report import EvidenceCheck, SignatureReport, Verification
from paraph.pdf.untrusted.verify import INCLUSION_ALONE, PROOF_ALONE, check_bundle, check_evidence, together, verify
from paraph.pdf.verdict import Fault, Verdict, Word, decide
from paraph.server.bodies import StagedFiles
from paraph.transparency.audit import Places
from paraph.transparency.notes import of_log
from paraph.transparency.witnesses import own_key

MOST_FILES = 50
_BESIDE = 1 << 20  # bytes of a body beside the files
_DIGEST = re.compile(r"([0-9a-f]{64}) (\d{1,12}) (.{1,255})", re.ASCII | re.DOTALL)


class VerdictRefused(Exception):
    """Why there is no verdict. ``word``: the name of the phrase that says it; ``values``: what that phrase contains."""

    def __init__(self, word: str, status: int, *, retry_after: int = 0, **values: Any) -> None:
        super().__init__(word)
        self.word, self.status, self.retry_after, self.values = word, status, retry_after, values


@dataclass
class Given:
    """The files by their names, and SHA-256 and size of those that are only compared."""

    files: dict[str, BinaryIO] = field(default_factory=dict)
    compared: dict[str, tuple[str, int]] = field(default_factory=dict)
    size: int = 0

    def free(self, name: str) -> str:
        """Return the name in a form that can be shown and that no other file has."""
        name = visible(name)
        names = [name, *(f"{name} ({number})" for number in range(2, MOST_FILES + 2))]
        return next(each for each in names if each not in self.files and each not in self.compared)


def visible(text: str) -> str:
    """Return a text by others with its invisible characters replaced, such as marks that turn its direction."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


@contextmanager
def given_files(request: HttpRequest) -> Iterator[Given]:
    """Read the form into files that are gone after the block. Raise VerdictRefused."""
    size, limit = int(request.META.get("CONTENT_LENGTH") or 0), settings.PARAPH.upload_limit_mb
    if size > (limit << 20) + _BESIDE:
        raise VerdictRefused("too_large", 413, limit=limit)
    given = Given()
    with ExitStack() as staged:
        try:
            require_disk(size)
            request.upload_handlers = [StagedFiles(staged)]
            files, digests = request.FILES.getlist("file"), request.POST.getlist("compared")
        except (MultiPartParserError, SuspiciousOperation) as error:
            raise VerdictRefused("unreadable_form", 400) from error
        except (DomainError, OSError) as refused:  # the disk is full, or the body was cut
            raise VerdictRefused("unavailable_title", 503, retry_after=5) from refused
        if not files:
            raise VerdictRefused("no_file", 422)
        if len(files) + len(digests) > MOST_FILES:
            raise VerdictRefused("too_many_files", 413, count=MOST_FILES)
        for each in files:
            each.seek(0)
            given.files[given.free(each.name or "")] = cast(BinaryIO, each.file)
            given.size += each.size or 0
        for text in digests:
            found = _DIGEST.fullmatch(text)
            if not found:
                raise VerdictRefused("unreadable_form", 400)
            given.compared[given.free(found[3])] = found[1], int(found[2])
        yield given


_STRANGERS = "visitors of /verify"
"""On whose behalf files are read: all visitors together have as many places as one organization."""
_ZIP = b"PK\3\4"  # as bundles of evidence begin
_GRAVEST: tuple[Word, ...] = ("forged", "altered", "unknown", "holds")
Found = EvidenceCheck | dict[str, Verification]


def own_roots() -> list[bytes]:
    """Return the roots (DER) of this installation's own seals and timestamps."""
    return trusted_roots(settings.PARAPH, key_folder())


def find(given: Given) -> Found:
    """Return how the proof and the files, or those in a bundle, match; without a proof, the report on each file. Raise
    ReadersUnavailable."""
    added = settings.PARAPH.verify_roots
    roots = [*own_roots(), *(read_roots(added) if added else ())]
    with together(len(given.files)):
        [first, *others] = given.files.values()
        if not others and not given.compared and first.read(len(_ZIP)) == _ZIP:
            return _with_log(check_bundle(first, roots, tenant_key=_STRANGERS))
        if len(given.files) + len(given.compared) > 1:
            tied = check_evidence(given.files, roots, compared=given.compared, tenant_key=_STRANGERS)
            is_without_proof = not tied.sealed and tied.verdict.sub_indication == "SIGNED_DATA_NOT_FOUND"
            if given.compared or not is_without_proof:
                return tied
        reports = {name: verify(file, roots, tenant_key=_STRANGERS) for name, file in given.files.items()}
    for name, report in reports.items():
        if report.purpose is not None and report.purpose.kind == "proof":
            reports[name] = replace(report, findings=[*report.findings, PROOF_ALONE])
    return reports


def _with_log(tied: EvidenceCheck) -> EvidenceCheck:
    """Note what the proof of inclusion in a bundle adds, if it is of this installation's log; others are not known."""
    if tied.inclusion and tied.inclusion.text is not None:
        own = own_key().log
        if f"\n{own.name}\n" in tied.inclusion.text:
            Places(policy=of_log(own)).note_bundle(tied, tied.inclusion)
        else:
            tied.notes.append(INCLUSION_ALONE)
    return tied


def as_json(found: Found) -> list[dict[str, Any]]:
    """Return the objects that ``paraph verify --json`` prints, for files without a proof with ``--each``."""
    if isinstance(found, EvidenceCheck):
        return [found.to_json()]
    return [{"file": name, **report.to_json()} for name, report in found.items()]


def as_shown(found: Found) -> dict[str, Any]:
    """Return what the page tells: the gravest verdict, and a line for proof and files together, each file, and each
    signature and timestamp in it."""
    tied = found if isinstance(found, EvidenceCheck) else None
    reports = found.sealed | found.strange if isinstance(found, EvidenceCheck) else found
    files = [_file(name, report) for name, report in reports.items()]
    lines = [_line(tied.verdict, tied.faults)] if tied else files
    gravest = min(lines, key=lambda line: _GRAVEST.index(line["verdict"]))
    return {
        "verdict": gravest["verdict"],
        "reason": gravest["reasons"][0],
        "tied": tied and lines[0] | {name: _shown(getattr(tied, name)) for name in ("problems", "notes", "matches")},
        "signed": [(visible(each.name), each.time) for each in tied.signed] if tied and tied.ok else [],
        "files": files,
        "not_given": len(tied.notes) - tied.notes.count(INCLUSION_ALONE) if tied else 0,
        "lone_proof": not tied and any(each["is_proof"] for each in files),
        "sandbox": any(each["sandbox"] for each in files),
    }


def _line(verdict: Verdict, faults: Iterable[Fault]) -> dict[str, Any]:
    """Return the word of the verdict and the names of the sentences of its reasons, the deciding one first."""
    kinds = dict.fromkeys([verdict.sub_indication, *(fault.kind for fault in faults)])
    reasons = ["holds"] if verdict.word == "holds" else [(kind or "GENERIC").lower() for kind in kinds]
    return {"verdict": verdict.word, "reasons": reasons}


def _file(name: str, report: Verification) -> dict[str, Any]:
    purpose = report.purpose
    return _line(report.verdict, report.faults) | {
        "name": name,
        "level": report.level,
        "signatures": list(map(_signature, report.signatures)),
        "findings": _shown(report.findings),
        "is_proof": bool(purpose and purpose.kind == "proof"),
        "sandbox": bool(purpose and purpose.environment == "sandbox"),
    }


def _signature(report: SignatureReport) -> dict[str, Any]:
    stamp, is_timestamp = report.timestamp, report.kind == "document timestamp"
    inner = None
    if stamp and not is_timestamp:
        verdict = decide(proven=stamp.trusted, faults=stamp.faults)
        inner = _line(verdict, stamp.faults) | {"by": visible(stamp.authority)}
    return _line(report.verdict, report.all_faults) | {
        "by": visible(report.signer),
        "sha256": report.certificate.sha256 if report.certificate else "",
        "is_timestamp": is_timestamp,
        "time": stamp.time if stamp else None,
        "claimed_at": report.claimed_at,
        "timestamp": inner,
    }


def _shown(sentences: Iterable[str]) -> list[str]:
    return [visible(each) for each in sentences]
