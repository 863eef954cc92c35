"""Signing keys behind one interface, and the development authority of a first start. No Django.

A key signs bytes and knows its certificate; :class:`SigningKey` hides whether the private key lives in a file, a token,
a cloud or at a provider. ``open_key`` opens a key by its address (docs/keys.md), ``read_roots`` reads the certificates
that a verification trusts. Faults are raised as ``DomainError``: ``configuration`` if a person must act,
``unavailable`` if the fault is transient.
"""

from paraph.keys.certificates import read_roots
from paraph.keys.development import DevelopmentAuthority, KeyKind, development_authority
from paraph.keys.sealing import SealingKeys, open_key, sealing_keys
from paraph.keys.signing_key import CscClient, KeySignature, SigningKey

__all__ = [
    "CscClient",
    "DevelopmentAuthority",
    "KeyKind",
    "KeySignature",
    "SealingKeys",
    "SigningKey",
    "development_authority",
    "open_key",
    "read_roots",
    "sealing_keys",
]
