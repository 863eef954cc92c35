"""Signing keys behind one interface, and the development authority of a first start. No Django.

A key signs bytes and knows its certificate; where the private half lives (a file, a token, a cloud) stays behind
:class:`SigningKey`.
"""

from paraph.keys.development import DevelopmentAuthority, KeyKind, development_authority
from paraph.keys.sealing import open_key, sealing_key
from paraph.keys.signing_key import KeySignature, SigningKey

__all__ = [
    "DevelopmentAuthority",
    "KeyKind",
    "KeySignature",
    "SigningKey",
    "development_authority",
    "open_key",
    "sealing_key",
]
