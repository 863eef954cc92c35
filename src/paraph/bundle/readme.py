"""``README.html`` of a bundle: what it is, what is in it, and how to check each part, in the language of the proof."""

import shlex
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509 import load_der_x509_certificate
from django.conf import settings

from paraph import words as catalog
from paraph.pdf import asic
from paraph.signature_requests.models import SignatureRequest

_PAGE = Path(__file__).parent / "templates" / "README.html"


def readme(
    request: SignatureRequest, documents: Sequence[str], roots: Sequence[bytes], *, stamped: bool, included: bool
) -> bytes:
    """Return the page. ``documents``: the names of the signed files and then the uploaded ones; ``roots``: DER;
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
    """Yield the words of each check and its command, of OpenSSL and poppler where these can do it."""
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
