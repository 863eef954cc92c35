"""The timestamp authorities and the seal level of the settings."""

from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding

from paraph.kernel.errors import DomainError
from paraph.kernel.settings import BUILT_IN_TIMESTAMPS, Settings
from paraph.keys import DevelopmentAuthority
from paraph.keys.certificates import read_certificates, subject, weakness_of_certificate
from paraph.pdf.pki.statuses import DevelopmentStatuses, LongTerm, StatusSource
from paraph.pdf.timestamps.builtin_authority import BuiltInAuthority
from paraph.pdf.timestamps.http_authority import HttpAuthority
from paraph.pdf.timestamps.timestamp import TimestampAuthority, Timestamping


def timestamping(settings: Settings, development: DevelopmentAuthority) -> Timestamping:
    """Open the authorities of ``PARAPH_TIMESTAMP_AUTHORITIES`` with the roots of ``PARAPH_TIMESTAMP_ROOTS``.

    The built-in authority brings its own root; at the level B-B there are no authorities. Raises
    ``DomainError("configuration", …)`` for an address that is not http or https, for a root that cannot be used, and
    for authorities elsewhere without roots, whose tokens could never be verified.
    """
    names = settings.timestamp_authorities if settings.seal_level != "B-B" else []
    authorities = [_authority(name, development) for name in names]
    roots = [development.root] if BUILT_IN_TIMESTAMPS in names else []
    if settings.timestamp_roots is not None:
        roots += _usable_roots(settings.timestamp_roots)
    elif any(name != BUILT_IN_TIMESTAMPS for name in names):
        raise DomainError(
            "configuration", "PARAPH_TIMESTAMP_ROOTS must name the roots that the timestamp authorities chain to."
        )
    return Timestamping(authorities, roots)


def long_term(settings: Settings, development: DevelopmentAuthority, *others: StatusSource) -> LongTerm | None:
    """Return how seals reach a ``PARAPH_SEAL_LEVEL`` above B-T; ``None`` for lower levels.

    ``others``: sources of statuses for certificates that are not the development authority's.
    """
    if settings.seal_level in ("B-B", "B-T"):
        return None
    first = settings.timestamp_authorities[:1] == [BUILT_IN_TIMESTAMPS]
    key = development.timestamp_key
    return LongTerm(
        [DevelopmentStatuses(development), *others],
        archive=settings.seal_level == "B-LTA",
        authority_chain=(key.certificate, *key.chain) if first else (),
    )


def _usable_roots(path: Path) -> list[bytes]:
    roots = read_certificates(path)
    for root in roots:
        if weakness := weakness_of_certificate(root, is_root=True):
            raise DomainError("configuration", f"{path}: {subject(root)} {weakness}.")
    return [root.public_bytes(Encoding.DER) for root in roots]


def _authority(name: str, development: DevelopmentAuthority) -> TimestampAuthority:
    if name == BUILT_IN_TIMESTAMPS:
        return BuiltInAuthority(development.timestamp_key)
    if name.startswith(("http://", "https://")):
        return HttpAuthority(name)
    raise DomainError(
        "configuration",
        f'PARAPH_TIMESTAMP_AUTHORITIES has "{name}", which is neither an http address nor {BUILT_IN_TIMESTAMPS}.',
    )
