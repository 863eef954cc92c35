"""The roots that this installation trusts for its own seals and timestamps."""

from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding

from paraph.kernel.environment import Environment
from paraph.keys.certificates import read_certificates, read_roots, tops
from paraph.keys.development import root_file
from paraph.keys.sealing import sealing_key


def trusted_roots(environment: Environment, folder: Path) -> list[bytes]:
    """DER of the development root below ``folder`` (where there is one), of the root of the operator's own key, and
    of ``PARAPH_TIMESTAMP_ROOTS``. Makes nothing, and opens no key whose certificates lie in a file of their own.
    Raises ``DomainError("configuration", …)`` for what cannot be read.
    """
    files = [environment.timestamp_roots] if environment.timestamp_roots else []
    if root_file(folder).exists():
        files.append(root_file(folder))
    roots = [root for file in files for root in read_roots(file)]
    if environment.sealing_key and environment.sealing_certificate is not None:
        roots += [root.public_bytes(Encoding.DER) for root in tops(read_certificates(environment.sealing_certificate))]
    elif environment.sealing_key:
        key = sealing_key(environment, folder, b"")
        roots.append((key.certificate, *key.chain)[-1])
    return roots
