"""PDFs sealed by other programs, with certificates, revocation data and timestamps that may be at fault: the
certificates are by certomancer, the signatures by pyHanko."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from asn1crypto import algos, crl, ocsp, tsp
from certomancer.registry import ArchLabel, CertLabel, CertomancerConfig, KeyLabel, PKIArchitecture, ServiceLabel
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign import PdfSignatureMetadata, PdfTimeStamper, SimpleSigner, sign_pdf
from pyhanko.sign.fields import SigSeedSubFilter
from pyhanko.sign.timestamps import TimeStamper
from pyhanko.sign.validation.dss import DocumentSecurityStore
from pyhanko_certvalidator.registry import SimpleCertificateStore

from tests.pdf.pdf_factory import paper, text

SEALED_AT, ARCHIVED_AT = datetime(2025, 6, 1, tzinfo=UTC), datetime(2025, 9, 1, tzinfo=UTC)
_KEYS = ("root", "middle", "signer", "stamp", "responder", "other", "weak")
SIGN = {"id": "key_usage", "critical": True, "smart-value": {"schema": "key-usage", "params": ["digital_signature"]}}
FOR_TIMESTAMPS = {"id": "extended_key_usage", "critical": True, "value": ["time_stamping"]}


@dataclass(frozen=True)
class Case:
    """The faults of a file; without any, it is sound at B-LTA."""

    signer: dict[str, Any] = field(default_factory=dict)
    middle: dict[str, Any] = field(default_factory=dict)
    stamp: dict[str, Any] = field(default_factory=dict)
    """Options for certomancer: of the certificates of signer, issuer and timestamp authority."""
    listed_at: datetime | None = datetime(2025, 8, 15, tzinfo=UTC)
    """The time at which the revocation lists in the file were current; ``None``: there are none."""
    answered_by: str = ""
    """The key that signs a status answer about the signer, which replaces the issuer's list; empty: none does."""
    digest: str = "sha256"
    weak_key: bool = False
    archived: bool = True


def valid(start: int, end: int) -> dict[str, Any]:
    return {"validity": {"valid-from": f"{start}-01-01T00:00:00+0000", "valid-to": f"{end}-01-01T00:00:00+0000"}}


def revoked(day: str) -> dict[str, Any]:
    return {"revocation": {"revoked-since": f"{day}T00:00:00+0000", "reason": "key_compromise"}}


def root(case: Case) -> bytes:
    encoded: bytes = _certificates(case).get_cert(CertLabel("root")).dump()
    return encoded


def sealed(case: Case) -> bytes:
    made = _certificates(case)
    output = BytesIO()
    _sign(case, made, output)
    signature = PdfFileReader(output).embedded_signatures[-1]
    certificates = [made.get_cert(CertLabel("middle")), made.get_cert(CertLabel("root"))]
    lists, answers = _statuses(case, made)
    if lists or answers:
        DocumentSecurityStore.add_dss(
            output, signature.pkcs7_content, certs=certificates, crls=lists, ocsps=answers, force_write=True
        )
    if not case.archived:
        return output.getvalue()
    archived = BytesIO()
    stamper = PdfTimeStamper(_Stamper(made, ARCHIVED_AT))
    stamper.timestamp_pdf(IncrementalPdfFileWriter(output), "sha256", None, output=archived)
    return archived.getvalue()


def _sign(case: Case, made: PKIArchitecture, output: BytesIO) -> None:
    between = SimpleCertificateStore()  # type: ignore[no-untyped-call]
    between.register(made.get_cert(CertLabel("middle")))
    signer = SimpleSigner(
        made.get_cert(CertLabel("signer")), made.key_set.get_private_key(KeyLabel(_key_of_signer(case))), between
    )
    about = PdfSignatureMetadata("Seal", subfilter=SigSeedSubFilter.PADES, md_algorithm=case.digest)
    pdf = IncrementalPdfFileWriter(BytesIO(paper(text("I owe 1,000 EUR", 100, 700))))
    sign_pdf(pdf, about, signer, timestamper=_Stamper(made, SEALED_AT), output=output)


class _Stamper(TimeStamper):
    """pyHanko's timestamp client, which asks certomancer's authority."""

    def __init__(self, made: PKIArchitecture, moment: datetime) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._authority = made.service_registry.summon_timestamper(ServiceLabel("stamp"), moment)

    async def async_request_tsa_response(self, req: tsp.TimeStampReq) -> tsp.TimeStampResp:
        return self._authority.request_tsa_response(req)


def _statuses(case: Case, made: PKIArchitecture) -> tuple[list[crl.CertificateList], list[ocsp.OCSPResponse]]:
    if case.listed_at is None:
        return [], []
    services, answers = made.service_registry, []
    lists = [services.get_crl(ServiceLabel(issuer), case.listed_at) for issuer in ("root", "middle")]
    if case.answered_by:
        responder = services.summon_responder(ServiceLabel("middle"), case.listed_at)
        asked = ocsp.CertId(
            {
                "hash_algorithm": algos.DigestAlgorithm({"algorithm": "sha1"}),
                "issuer_name_hash": made.get_cert(CertLabel("middle")).subject.sha1,
                "issuer_key_hash": made.get_cert(CertLabel("middle")).public_key.sha1,
                "serial_number": made.get_cert(CertLabel("signer")).serial_number,
            }
        )
        request = {"tbs_request": {"request_list": [{"req_cert": asked}]}}
        answers = [responder.build_ocsp_response(ocsp.OCSPRequest(request))]
        del lists[1]
    return lists, answers


def _certificates(case: Case) -> PKIArchitecture:
    issuer = {"issuer": "root", "profiles": ["simple-ca"], **valid(2020, 2100)}
    certificates = {
        "root": {**issuer, "subject": "root"},
        "middle": {**issuer, **case.middle},
        "signer": {
            "issuer": "middle",
            "subject-key": _key_of_signer(case),
            "extensions": [SIGN],
            **valid(2024, 2100),
            **case.signer,
        },
        "stamp": {"issuer": "root", "extensions": [SIGN, FOR_TIMESTAMPS], **valid(2024, 2100), **case.stamp},
        "responder": {"issuer": "middle", "profiles": ["ocsp-responder"], **valid(2024, 2100)},
    }
    lists = {
        name: {
            "for-issuer": name,
            "signing-key": name,
            "issuer-cert": name,
            "simulated-update-schedule": "P30D",
            "distribution-point-name": {"include-url-in-distribution-point-name": False, "full-directory-name": name},
        }
        for name in ("root", "middle")
    }
    answers = {"for-issuer": "middle", "responder-cert": "responder", "signing-key": case.answered_by or "responder"}
    services = {
        "crl-repo": lists,
        "ocsp": {"middle": answers},
        "time-stamping": {"stamp": {"signing-key": "stamp", "signing-cert": "stamp"}},
    }
    architecture = {
        "keyset": "all",
        "entity-defaults": {"organization-name": "Acme Trust"},
        "entities": {name: {"common-name": name.title()} for name in certificates},
        "certs": certificates,
        "services": services,
    }
    keys = {name: {"path": f"{name}.pem"} for name in _KEYS}
    config = {"keysets": {"all": {"keys": keys}}, "pki-architectures": {"all": architecture}}
    return CertomancerConfig(config, key_search_dir=str(_keys())).get_pki_arch(ArchLabel("all"))


def _key_of_signer(case: Case) -> str:
    return "weak" if case.weak_key else "signer"


@cache
def _keys() -> Path:
    """Make the private keys and return their folder."""
    folder = Path(mkdtemp(prefix="paraph-certomancer-"))
    for name in _KEYS:
        key = rsa.generate_private_key(65537, 1024) if name == "weak" else ec.generate_private_key(ec.SECP256R1())
        (folder / f"{name}.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return folder
