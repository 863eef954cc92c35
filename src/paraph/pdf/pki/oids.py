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

MD5 = "1.2.840.113549.2.5"
SHA1 = "1.3.14.3.2.26"
SHA224 = "2.16.840.1.101.3.4.2.4"
SHA256 = "2.16.840.1.101.3.4.2.1"
SHA384 = "2.16.840.1.101.3.4.2.2"
SHA512 = "2.16.840.1.101.3.4.2.3"
SHA3_256 = "2.16.840.1.101.3.4.2.8"
SHA3_384 = "2.16.840.1.101.3.4.2.9"
SHA3_512 = "2.16.840.1.101.3.4.2.10"
SHAKE256 = "2.16.840.1.101.3.4.2.12"
SHAKE256_LEN = "2.16.840.1.101.3.4.2.18"

RSA = "1.2.840.113549.1.1.1"
RSA_PSS = "1.2.840.113549.1.1.10"
MGF1 = "1.2.840.113549.1.1.8"
RSA_MD5 = "1.2.840.113549.1.1.4"
RSA_SHA1 = "1.2.840.113549.1.1.5"
RSA_SHA224 = "1.2.840.113549.1.1.14"
RSA_SHA256 = "1.2.840.113549.1.1.11"
RSA_SHA384 = "1.2.840.113549.1.1.12"
RSA_SHA512 = "1.2.840.113549.1.1.13"
RSA_SHA3_256 = "2.16.840.1.101.3.4.3.14"
RSA_SHA3_384 = "2.16.840.1.101.3.4.3.15"
RSA_SHA3_512 = "2.16.840.1.101.3.4.3.16"
EC_PUBLIC_KEY = "1.2.840.10045.2.1"
ECDSA_SHA1 = "1.2.840.10045.4.1"
ECDSA_SHA224 = "1.2.840.10045.4.3.1"
ECDSA_SHA256 = "1.2.840.10045.4.3.2"
ECDSA_SHA384 = "1.2.840.10045.4.3.3"
ECDSA_SHA512 = "1.2.840.10045.4.3.4"
ECDSA_SHA3_256 = "2.16.840.1.101.3.4.3.10"
ECDSA_SHA3_384 = "2.16.840.1.101.3.4.3.11"
ECDSA_SHA3_512 = "2.16.840.1.101.3.4.3.12"

HASHES = {SHA256: "sha256", SHA384: "sha384", SHA512: "sha512"}
"""The hashes that seals and timestamps may use, with their :mod:`hashlib` names."""
