"""Object identifiers of CMS, CAdES and timestamps, named as in their standards, and one of this project."""

DATA = "1.2.840.113549.1.7.1"
SIGNED_DATA = "1.2.840.113549.1.7.2"
TST_INFO = "1.2.840.113549.1.9.16.1.4"

CONTENT_TYPE = "1.2.840.113549.1.9.3"
MESSAGE_DIGEST = "1.2.840.113549.1.9.4"
SIGNING_TIME = "1.2.840.113549.1.9.5"
ALGORITHM_PROTECTION = "1.2.840.113549.1.9.52"
SIGNING_CERTIFICATE = "1.2.840.113549.1.9.16.2.12"
SIGNING_CERTIFICATE_V2 = "1.2.840.113549.1.9.16.2.47"
TIMESTAMP_TOKEN = "1.2.840.113549.1.9.16.2.14"  # noqa: S105 — an object identifier

SEAL_PURPOSE = "2.25.285769127322676019539055826652241602023"
"""The signed attribute of :mod:`paraph.pdf.pki.purpose`, under the arc of UUIDs (ITU-T X.667)."""

UNSIGNED = frozenset(
    {
        TIMESTAMP_TOKEN,
        "1.2.840.113549.1.9.6",  # countersignature
        "1.2.840.113549.1.9.16.2.21",  # complete certificate references
        "1.2.840.113549.1.9.16.2.22",  # complete revocation references
        "1.2.840.113549.1.9.16.2.23",  # certificate values
        "1.2.840.113549.1.9.16.2.24",  # revocation values
        "1.2.840.113549.1.9.16.2.25",  # CAdES-C timestamp
        "1.2.840.113549.1.9.16.2.26",  # timestamp of references
        "1.2.840.113549.1.9.16.2.48",  # archive timestamp, second version
        "0.4.0.1733.2.4",  # archive timestamp, third version
        "0.4.0.1733.2.5",  # long-term validation
    }
)
"""Attributes that may be added after signing (ETSI EN 319 122-1)."""

SHA256 = "2.16.840.1.101.3.4.2.1"
SHAKE256 = "2.16.840.1.101.3.4.2.12"
SHAKE256_LEN = "2.16.840.1.101.3.4.2.18"

RSA = "1.2.840.113549.1.1.1"
RSA_PSS = "1.2.840.113549.1.1.10"
MGF1 = "1.2.840.113549.1.1.8"
RSA_SHA256 = "1.2.840.113549.1.1.11"
EC_PUBLIC_KEY = "1.2.840.10045.2.1"
ECDSA_SHA256 = "1.2.840.10045.4.3.2"
