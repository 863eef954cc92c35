"""Files of other programs with faulty certificates, lists and timestamps are judged as ETSI EN 319 102-1 says."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from asn1crypto import x509
from asn1crypto.pem import armor

from lab.opinions.validators import VALIDATORS
from paraph.pdf.verification.verify import verify
from tests.opinions.authorities import SIGN, Case, revoked, root, sealed, valid

_PARAPH = Path(sys.executable).with_name("paraph")
_BEFORE, _SINCE = "2025-05-01", "2025-06-15"
"""Days of a revocation: before and after the timestamp of the seal."""


def _names(organization: str) -> dict[str, Any]:
    """Return an extension by which the issuer may certify only names of this organization."""
    name = x509.GeneralName("directory_name", x509.Name.build({"organization_name": organization}))
    value = {"permitted_subtrees": [{"base": name}]}
    return {"extensions": [{"id": "name_constraints", "critical": True, "value": value}]}


_FOR_ALL = {"extensions": [SIGN]}


class Row(NamedTuple):
    case: Case
    level: str
    """The level of a valid file, else empty."""
    kind: str = ""
    """The sub-indication of a file that is not valid."""
    pyhanko: bool | None = None
    """The verdict of ``adesverify``, where it differs. Asked without revocations, as it wants those of now, it accepts
    a signer's certificate at any time, and ignores a timestamp that does not hold."""


_LATER = valid(2024, 2026)
ROWS: dict[str, Row] = {
    "nothing": Row(Case(), "B-LTA"),
    "expired before the timestamp": Row(Case(signer=valid(2024, 2025)), "", "OUT_OF_BOUNDS_NO_POE", pyhanko=True),
    "expired since": Row(Case(signer=_LATER), "B-LTA"),
    "expired since, under its own timestamp alone": Row(Case(signer=_LATER, archived=False, listed_at=None), "B-T"),
    "valid only after the timestamp": Row(Case(signer=valid(2026, 2100)), "", "NOT_YET_VALID", pyhanko=True),
    "an issuer that expired before": Row(Case(middle=valid(2020, 2025)), "", "OUT_OF_BOUNDS_NO_POE"),
    "revoked before the timestamp": Row(Case(signer=revoked(_BEFORE)), "", "REVOKED_NO_POE", pyhanko=True),
    "revoked since": Row(Case(signer=revoked(_SINCE)), "B-LTA"),
    "an issuer that was revoked before": Row(Case(middle=revoked(_BEFORE)), "", "REVOKED_CA_NO_POE", pyhanko=True),
    "a timestamp authority that was revoked before": Row(Case(stamp=revoked(_BEFORE)), "", "REVOKED_NO_POE", True),
    "an unknown status": Row(Case(listed_at=None), "B-T"),
    "a status answer": Row(Case(answered_by="responder"), "B-LTA"),
    "a status answer by another key": Row(Case(answered_by="other"), "B-T"),
    "lists that are out of date": Row(Case(listed_at=datetime(2025, 3, 1, tzinfo=UTC)), "B-T"),
    "a timestamp authority without the usage": Row(
        Case(stamp=_FOR_ALL, archived=False, listed_at=None), "", "NO_POE", True
    ),
    "the same, over a seal and its archive": Row(Case(stamp=_FOR_ALL), "", "NO_POE", True),
    "the same, and expired since": Row(Case(signer=_LATER, stamp=_FOR_ALL), "", "OUT_OF_BOUNDS_NO_POE"),
    "names that the issuer may certify": Row(Case(middle=_names("Acme Trust")), "B-LTA"),
    "names that it may not": Row(Case(middle=_names("Another")), "", "CHAIN_CONSTRAINTS_FAILURE"),
    "a seal with SHA-1": Row(Case(digest="sha1"), "", "CRYPTO_CONSTRAINTS_FAILURE_NO_POE"),
    "a certificate with SHA-1": Row(Case(signer={"digest-algo": "sha1"}), "", "CRYPTO_CONSTRAINTS_FAILURE_NO_POE"),
    "an RSA key of 1024 bits": Row(Case(weak_key=True), "", "CRYPTO_CONSTRAINTS_FAILURE_NO_POE"),
}
"""Rows by their fault. A seal of unknown status holds at B-T, as its level says. The standard (5.5.4) does not refuse a
seal for a timestamp that does not count if the seal holds without it; Paraph is stricter."""
_SHORT = ("nothing", "revoked before the timestamp", "names that it may not", "an RSA key of 1024 bits")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in _SHORT else pytest.mark.thorough) for name in ROWS]
)
def test_paraph_decides_as_the_standard_says(name: str) -> None:
    row = ROWS[name]
    found = verify(sealed(row.case), [root(row.case)])
    assert found.ok == bool(row.level), found.findings
    if row.level:
        assert found.level == row.level, found.findings


@pytest.mark.thorough
@pytest.mark.parametrize("name", ROWS)
def test_the_command_ends_as_the_standard_says(name: str, tmp_path: Path) -> None:
    row, (file, own) = ROWS[name], _written(ROWS[name].case, tmp_path)
    ended = subprocess.run([_PARAPH, "verify", file, "--root", own, "--json"], capture_output=True, check=False)
    told = json.loads(ended.stdout)
    assert (ended.returncode, told["ok"]) == ((0, True) if row.level else (1, False))
    word = "TOTAL-PASSED" if row.level else "TOTAL-FAILED" if row.kind == "NOT_YET_VALID" else "INDETERMINATE"
    assert (told["indication"], told["sub_indication"]) == (word, row.kind)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ROWS)
def test_pyhanko_says_the_same_but_where_the_table_has_it(name: str, tmp_path: Path) -> None:
    """Revocations are left out, as pyHanko wants those of the time at which it is asked."""
    row, (file, own) = ROWS[name], _written(ROWS[name].case, tmp_path)
    expected = bool(row.level) if row.pyhanko is None else row.pyhanko
    opinion = VALIDATORS["pyHanko"].ask(file, own)
    assert opinion.holds == expected, opinion.words


def _written(case: Case, folder: Path) -> tuple[Path, Path]:
    (folder / "file.pdf").write_bytes(sealed(case))
    (folder / "root.pem").write_bytes(armor("CERTIFICATE", root(case)))
    return folder / "file.pdf", folder / "root.pem"
