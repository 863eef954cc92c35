"""Programs that judge a signed PDF, each in its own words: Paraph's, and four by others."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lab.opinions.alterations import NotHere, newest_archive, newest_seal
from tests import independent

_PARAPH, _PYHANKO = (str(Path(sys.executable).with_name(name)) for name in ("paraph", "pyhanko"))
_SEAL = {"a byte of the content", "a byte of the seal", "another certificate in the seal"}
_STAMPS = {"a byte of the seal's timestamp", "the time in the seal's timestamp", "a byte of the archive timestamp"}
_CHAIN, _UPDATE, _END = {"sealed by a stranger"}, {"a revision appended"}, {"a comment appended"}
_OPENSSL_REASON = re.compile(r"error:[0-9A-F]+:[^:]*:[^:]*:([^:\n]+)|Verify error:(.+)")
_USUAL = re.compile(
    r"PAdES|Sealed by .* is trusted;|The signer's certificate|The seal says|Timestamped on .*(?<!not trusted\.)$"
    r'|Level B|No timestamp|A document timestamp by "[^"]+" was'
)
"""Lines that ``paraph verify`` also prints for sound files."""


@dataclass(frozen=True)
class Opinion:
    holds: bool
    words: str
    """The program's words, without names, times, offsets and digests."""


@dataclass(frozen=True)
class Validator:
    ask: Callable[[Path, Path], Opinion]
    """Takes the path of a file, in a folder of its own, and that of the root."""
    version_by: tuple[str, ...]
    """The command that prints its version."""
    sees: Set[str]
    """The alterations that the program claims to look for."""
    refuses: Set[str] = frozenset()
    """The sound files that the program does not accept."""

    @property
    def version(self) -> str:
        _, said, wrong = _run(*self.version_by)
        return re.findall(r"\d+\.\d[\w.]*", said + wrong)[0]  # type: ignore[no-any-return]


def _run(*command: str | Path) -> tuple[int, str, str]:
    done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def _paraph(pdf: Path, root: Path) -> Opinion:
    status, said, _ = _run(_PARAPH, "verify", pdf, "--root", root)
    verdict, *lines = [line.strip().removeprefix(f"{pdf}: ") for line in said.splitlines()]
    levels = [line.split()[2].rstrip(",") for line in lines if line.startswith("PAdES level")]
    words = [", ".join([verdict.rstrip("."), *levels]), *(line for line in lines if not _USUAL.match(line))]
    return Opinion(status == 0, re.sub(r"\d{4}-\d\d-\d\dT\S+Z|(?<=byte )\d+", "…", " · ".join(words)))


def _openssl(pdf: Path, root: Path) -> Opinion:
    """Check the seal as CAdES, its timestamp and the archive timestamp, each over the bytes that it covers."""
    told, signed, covered = {}, pdf.with_suffix(".der"), pdf.with_suffix(".covered")

    def ask(name: str, signature: bytes, about: bytes, *command: str) -> None:
        signed.write_bytes(signature)
        covered.write_bytes(about)
        told[name] = _run("openssl", *command, "-in", signed, "-CAfile", root)

    content = pdf.read_bytes()
    seal, token = newest_seal(content), ("ts", "-verify", "-token_in", "-data", str(covered))
    cades = ("cms", "-verify", "-cades", "-binary", "-inform", "DER", "-purpose", "any", "-out", os.devnull)
    ask("seal", seal.der, seal.covered, *cades, "-content", str(covered))
    with suppress(NotHere):
        ask("its timestamp", seal.token.der, seal.value, *token)
        archive = newest_archive(content)
        ask("archive timestamp", archive.der, archive.covered, *token)
    words = [f"{name}: {_openssl_words(out + wrong)}" for name, (_, out, wrong) in told.items()]
    return Opinion(not any(status for status, _, _ in told.values()), "; ".join(words))


def _openssl_words(said: str) -> str:
    reasons = dict.fromkeys((one or other).strip() for one, other in _OPENSSL_REASON.findall(said))
    verdicts = [line for line in said.splitlines() if "successful" in line or line.startswith("Verification: ")]
    return ", ".join([*verdicts[:1], *reasons])


def _adesverify(pdf: Path, root: Path) -> Opinion:
    trust = ("--trust", root, "--trust-replace", "--no-revocation-check")
    status, said, wrong = _run(_PYHANKO, "sign", "adesverify", *trust, pdf)
    told = [line.split(":", 2)[2] for line in said.splitlines()]  # after field and fingerprint
    return Opinion(status == 0, " / ".join(told) or wrong.splitlines()[-1])


def _pdfsig(pdf: Path, root: Path) -> Opinion:
    told = []
    for signature in independent.pdfsig(pdf, root).split("Signature #")[1:]:
        lines = [line.strip(" -") for line in signature.splitlines()]
        judged = [line for line in lines if "Validation: " in line or "otal document signed" in line]
        told.append(" ".join(line.partition("Validation: ")[2] or f"{line}." for line in judged))
    read = [each for each in told if "not yet been verified" not in each]  # the kinds of signature that it knows
    holds = all("Signature is Valid. Certificate is Trusted." in each for each in read) and bool(read)
    return Opinion(holds and any(each.startswith("Total") for each in told), " / ".join(told))


def _mutool(pdf: Path, _root: Path) -> Opinion:
    _, said, _ = _run("mutool", "sign", "-v", pdf)  # exits with 0 whatever it says
    blocks = [[line.strip() for line in each.splitlines()[1:]] for each in said.split("Verifying signature ")[1:]]
    told = [" ".join(line for line in block if not line.startswith(("Distin", "Certificate err"))) for block in blocks]
    read = [each for each in told if each != "Signature is not signed."]  # the kinds of signature that it knows
    holds = all("valid but" in each or "unchanged since" in each for each in read) and bool(read)
    return Opinion(holds, " / ".join(told) or "It crashes.")


VALIDATORS = {
    "Paraph": Validator(_paraph, (_PARAPH, "--version"), _SEAL | _STAMPS | _CHAIN | _UPDATE | _END),
    "OpenSSL": Validator(_openssl, ("openssl", "version"), _SEAL | _STAMPS | _CHAIN),
    "pyHanko": Validator(_adesverify, (_PYHANKO, "--version"), _SEAL | _CHAIN | _UPDATE),
    "poppler": Validator(_pdfsig, ("pdfsig", "-v"), _SEAL | _CHAIN | _UPDATE | _END, {"sealed before"}),
    "MuPDF": Validator(_mutool, ("mutool", "-v"), _SEAL),
}
