"""Signing keys behind one interface, and the development authority of a first start. No Django.

A key signs bytes and knows its certificate; where the private half lives (a file, a token, a cloud) stays behind
:class:`SigningKey`. ``open_key`` opens one by its address (docs/keys.md), ``read_roots`` reads the certificates that a
verification trusts. What does not work is raised as ``DomainError``: ``configuration`` for what a person must mend,
``unavailable`` for what passes.
"""

from paraph.keys.certificates import read_roots
from paraph.keys.development import DevelopmentAuthority, KeyKind, development_authority
from paraph.keys.sealing import SealingKeys, open_key, sealing_keys
from paraph.keys.signing_key import KeySignature, SigningKey

__all__ = [
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
