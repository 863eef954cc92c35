"""The roots that an installation trusts for its own seals and timestamps."""

from collections.abc import Iterator
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding

from paraph.kernel.settings import Settings
from paraph.keys.certificates import read_certificates, read_roots, tops
from paraph.keys.development import root_file
from paraph.keys.sealing import EnvironmentName, operator_key, sealing_keys


def trusted_roots(settings: Settings, folder: Path) -> list[bytes]:
    """DER of the development root below ``folder``, if it exists, of the roots of the operator's own keys, and of
    ``PARAPH_TIMESTAMP_ROOTS``. Makes no files, and opens a key only if its certificates are not in a separate file.
    Raises ``DomainError("configuration", …)`` for a file that cannot be read.
    """
    files = [settings.timestamp_roots] if settings.timestamp_roots else []
    if root_file(folder).exists():
        files.append(root_file(folder))
    roots = [root for file in files for root in read_roots(file)]
    roots += [*_roots_of(settings, "production", folder), *_roots_of(settings, "sandbox", folder)]
    return list(dict.fromkeys(roots))


def _roots_of(settings: Settings, environment: EnvironmentName, folder: Path) -> Iterator[bytes]:
    configured = operator_key(settings, environment)
    if configured is None:
        return
    if configured.certificates is not None:
        yield from (root.public_bytes(Encoding.DER) for root in tops(read_certificates(configured.certificates)))
    else:
        key = sealing_keys(settings, environment, folder, b"").documents
        yield (key.certificate, *key.chain)[-1]
