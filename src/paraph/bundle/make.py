"""The evidence bundle of a finished request, made anew whenever it is asked for (docs/decisions/bundles.md).

The same files make the same bytes: the order is fixed, members have no time of their own, nothing is compressed, and
the timestamp over the manifest is kept. ``README.html`` says, in the language of the proof, what is in it and how to
check each part.
"""

import base64
import json
import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NamedTuple
from zipfile import LargeZipFile

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509 import load_der_x509_certificate
from django.conf import settings
from django.db import transaction

from paraph import words as catalog
from paraph.audit_trail.models import Entry
from paraph.database.rows import insert_once
from paraph.documents.models import Document
from paraph.evidence.models import BundleTimestamp, ProofFile, SealedDocument
from paraph.evidence.sealed_files import SealedFile, records_of
from paraph.flow.events import lock_request
from paraph.flow.sealing.context import key_folder, sealing_context
from paraph.flow.sealing.proof_content import journal_evidence
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.places import expensive_work, machine_of_others
from paraph.keys.sealing import trusted_roots
from paraph.pdf import asic
from paraph.pdf.asic import BLOCK, ZipWriter, bundled
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp, timestamps_file
from paraph.pdf.timestamps.timestamp import stamp_time
from paraph.signature_requests.models import SignatureRequest
from paraph.storage import store
from paraph.storage.objects import presigned_url
from paraph.tenants.scope import tenant_key
from paraph.transparency.log import inclusion_proof_of

_FOLDER, _ENDING = "bundles/", ".zip"


def bundle_name(request_id: int) -> str:
    """Return the name that the bundle is saved as."""
    return f"request-{request_id}{_ENDING}"


def bundle_address(request_id: int) -> str:
    """Return an address at which anyone may download the bundle; it is valid as long as those of other files."""
    return presigned_url(f"{_FOLDER}{request_id}{_ENDING}", bundle_name(request_id), store.LINK_SECONDS)


def bundle_of_key(key: str) -> int | None:
    """Return the id of the request whose bundle a key of a download names; None for the key of an object."""
    number = key.removeprefix(_FOLDER).removesuffix(_ENDING)
    return int(number) if key == f"{_FOLDER}{number}{_ENDING}" and number.isdecimal() else None


def open_bundle(request_id: int) -> BinaryIO:
    """Return the bundle as an open temporary file of at most 2 GB, which the caller closes. Raise ``DomainError``:
    ``not_found`` before the request is finalized and once its files are deleted, ``unavailable`` where no authority
    gives the first timestamp now, ``conflict`` where the files are too large together."""
    proof = ProofFile.objects.select_related("request", "shared").filter(request=request_id).first()
    if proof is None or not proof.request.finalized:
        raise DomainError("not_found", "This request has no files, or none any more.")
    with ExitStack() as stack, expensive_work(tenant_key(proof.request)):
        file = stack.enter_context(TemporaryFile())
        try:
            _write(file, proof)
        except FileNotFoundError as error:
            raise DomainError("not_found", "A file of this request no longer exists.") from error
        except LargeZipFile as error:
            message = "The files of this request are larger than 2 GB together: download each."
            raise DomainError("conflict", message) from error
        file.seek(0)
        stack.pop_all()
        return file


class _Packed(NamedTuple):
    """A sealed file, its name in the bundle, and the timestamps beside it."""

    name: str
    file: SealedFile
    records: Sequence[DetachedTimestamp]


def _write(file: BinaryIO, proof: ProofFile) -> None:
    request = proof.request
    rows = SealedDocument.objects.filter(request_document__request=request).order_by("request_document__position")
    documents = list(rows.select_related("request_document__document", "shared"))
    signed, uploaded = zip(*bundled(row.request_document.document.name for row in documents), strict=True)
    named: list[tuple[str, SealedFile]] = [(asic.PROOF, proof), *zip(signed, documents, strict=True)]
    sealed = [_Packed(name, row, records_of(row.object_key)) for name, row in named]

    roots = trusted_roots(settings.PARAPH, key_folder())
    stamped = bool(sealing_context().timestamping.authorities)
    journal = journal_evidence(list(Entry.objects.filter(request=request).order_by("position")))
    included = inclusion_proof_of(proof)
    kept = {bytes(each.file.sha256): (each.name, each.records) for each in sealed}
    with ZipWriter(file) as writer:
        asic.begin(writer)
        writer.add(
            asic.README, [readme(request, [*signed, *uploaded], roots, stamped=stamped, included=bool(included))]
        )
        for each in sealed:
            _add_stored(writer, each.name, each.file)
        for name, row in zip(uploaded, documents, strict=True):
            _add_stored(writer, name, row.request_document.document)
        writer.add(asic.JOURNAL, [json.dumps(journal, ensure_ascii=False, indent=1).encode()])
        writer.add(asic.TIMESTAMPS, [timestamps_file(kept)])
        writer.add(asic.CERTIFICATES, [asic.as_pem(_certificates(sealed))])
        writer.add(asic.ROOTS, [asic.as_pem(roots)])
        for name, content in _revocation(sealed).items():
            writer.add(name, [content])
        if included:
            writer.add(asic.INCLUSION, [included.encode()])
        asic.end(writer, partial(_timestamp, request))


def _add_stored(writer: ZipWriter, name: str, row: SealedFile | Document) -> None:
    with store.open(row.object_key) as stored:
        member = writer.add(name, iter(partial(stored.read, BLOCK), b""))
    if member.sha256 != bytes(row.sha256):
        raise DomainError("internal_error", f"The stored file {row.object_key} is not the one that was recorded.")


def _certificates(sealed: Sequence[_Packed]) -> list[bytes]:
    """Return the certificates of seals and timestamps, each once."""
    chains = (chain for each in sealed for chain in each.file.shared.content["certificates"].values())
    known = [base64.b64decode(link) for chain in chains for link in chain]
    known += [link for each in sealed for record in each.records for link in record.statuses.certificates]
    return list(dict.fromkeys(known))


def _revocation(sealed: Sequence[_Packed]) -> dict[str, bytes]:
    """Return the revocation data that is kept beside the sealed files, by its names in the bundle."""
    statuses = [record.statuses for each in sealed for record in each.records]
    found = [("crl", content) for each in statuses for content in each.crls]
    found += [("ocsp", content) for each in statuses for content in each.ocsps]
    return {f"{asic.REVOCATION}{tokens.sha256(content).hex()}.{kind}": content for kind, content in found}


def _timestamp(request: SignatureRequest, manifest: bytes) -> tuple[bytes, list[bytes]] | None:
    """Return the token that is kept for this manifest, requested now where there is none, and the chain of its
    authority; None where the settings name no authority."""
    digest = tokens.sha256(manifest)
    kept = BundleTimestamp.objects.filter(request=request, manifest_sha256=digest)
    row = kept.first()
    if row is None and sealing_context().timestamping.authorities:
        _keep_new(request, digest)
        row = kept.get()  # another process may have been the first
    return (bytes(row.token), [base64.b64decode(link) for link in row.authority]) if row else None


def _keep_new(request: SignatureRequest, digest: bytes) -> None:
    context = sealing_context()
    checking = context.long_term.check_not_revoked if context.long_term else None
    with machine_of_others(tenant_key(request)):
        stamp, failures = stamp_time(digest, replace(context.timestamping, check_not_revoked=checking))
    if stamp is None:
        raise DomainError("unavailable", " ".join(["No timestamp could be had for the bundle.", *failures]))
    chain: Any = [base64.b64encode(link).decode() for link in stamp.chain]
    with transaction.atomic():
        if lock_request(request.pk).files_deleted_at:
            raise FileNotFoundError
        insert_once(BundleTimestamp(request=request, manifest_sha256=digest, token=stamp.token, authority=chain))


_PAGE = Path(__file__).parent / "templates" / "README.html"


def readme(
    request: SignatureRequest, documents: Sequence[str], roots: Sequence[bytes], *, stamped: bool, included: bool
) -> bytes:
    """Return the page. ``documents``: the names of the signed files, then of the uploaded ones; ``roots``: DER;
    ``stamped`` and ``included``: whether the bundle has a timestamp, and a proof of inclusion in a log."""
    words, parts = catalog.of("bundle", request.locale), {"stamped": stamped, "included": included}
    limits = [words[name] for name, lacks in (("unstamped", not stamped), ("unlogged", not included)) if lacks]
    page = _PAGE.read_text("utf-8").format(
        locale=words["locale"],
        direction=catalog.direction(words["locale"]),
        title=escape(catalog.phrase(words, "title", number=request.pk)),
        **{name: escape(words[name]) for name in ("what", "contents", "check", "roots")},
        files=_listed((name, words[key]) for name, key in _files(documents, **parts)),
        commands="\n".join(_command(words[key], command) for key, command in _commands(documents, **parts)),
        fingerprints=_listed(map(_fingerprint, roots)),
        limits=escape(" ".join(limits)),
    )
    return page.encode()


def _files(documents: Sequence[str], *, stamped: bool, included: bool) -> Iterator[tuple[str, str]]:
    yield asic.PROOF, "proof"
    for name in documents:
        yield name, "signed" if name.startswith(asic.SIGNED) else "uploaded"
    yield asic.JOURNAL, "journal"
    yield f"{asic.TIMESTAMPS}, {asic.REVOCATION}", "timestamps"
    yield f"{asic.CERTIFICATES}, {asic.ROOTS}", "certificates"
    if included:
        yield asic.INCLUSION, "inclusion"
    yield asic.SUMS, "digests"
    yield asic.MANIFEST, "manifest"
    if stamped:
        yield f"{asic.TIMESTAMP}, {asic.AUTHORITY}", "timestamp"


def _commands(documents: Sequence[str], *, stamped: bool, included: bool) -> Iterator[tuple[str, str]]:
    """Yield each check: the key of its words, and its command, one of OpenSSL or poppler where these suffice."""
    sealed = [asic.PROOF, *(name for name in documents if name.startswith(asic.SIGNED))]
    yield "altered", f"sha256sum -c {asic.SUMS}"
    if stamped:
        with_chain = f"-CAfile {asic.ROOTS} -untrusted {asic.AUTHORITY}"
        yield "stamped", f"openssl ts -verify -token_in -in {asic.TIMESTAMP} -data {asic.MANIFEST} {with_chain}"
    yield "sealed", "\n".join(f"pdfsig {shlex.quote(name)}" for name in sealed)
    together = f"paraph verify --details --root {asic.ROOTS} --evidence {asic.TIMESTAMPS} {asic.PROOF}"
    yield "together", " ".join([together, *map(shlex.quote, documents)])
    if included:
        log = f"{settings.PARAPH.public_url}/transparency"
        yield "logged", f"paraph verify --root {asic.ROOTS} --log {log} --inclusion {asic.INCLUSION} {asic.PROOF}"


def _command(words: str, command: str) -> str:
    return f"<p>{escape(words)}</p>\n<pre>{escape(command)}</pre>"


def _fingerprint(root: bytes) -> tuple[str, str]:
    certificate = load_der_x509_certificate(root)
    return certificate.subject.rfc4514_string(), f"SHA-256: {certificate.fingerprint(SHA256()).hex()}"


def _listed(pairs: Iterator[tuple[str, str]]) -> str:
    return "\n".join(f"<dt>{escape(term)}</dt><dd>{escape(told)}</dd>" for term, told in pairs)
