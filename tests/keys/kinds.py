"""A signing key of any kind, in any place where keys live."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from paraph.keys import CscClient, SigningKey, open_key
from tests.keys import soft_tokens
from tests.keys.certified_keys import Kind, Root, make_key, make_root
from tests.keys.csc_service import CLIENT, provider
from tests.keys.kms_service import moto_key, moto_kms
from tests.keys.odd_chains import pkcs8

Place = Literal["file", "pkcs11", "kms", "csc"]
PLACES: list[Place] = ["file", "pkcs11", "kms", "csc"]


@dataclass(frozen=True)
class Placed:
    """A key in its place. ``address``, ``chain`` (PEM) and ``passphrase`` are as the settings want them."""

    place: Place
    address: str
    chain: Path
    passphrase: str
    root: Root
    client: CscClient = field(default_factory=CscClient)

    def open(self) -> SigningKey:
        return open_key(self.address, self.chain, self.passphrase, self.client)


@contextmanager
def placed(place: Place, kind: Kind, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Placed]:
    root = make_root()
    with ExitStack() as stack:
        if place == "kms":
            address, public = moto_key(stack.enter_context(moto_kms(patch)), kind)
            yield Placed(place, address, root.chain(folder, public), "", root)
            return
        if place == "pkcs11":
            token = stack.enter_context(soft_tokens.token(kind, folder, root))
            yield Placed(place, soft_tokens.address(token.label, "seal"), token.chain, soft_tokens.PIN, root)
            return
        key = make_key(kind)
        if place == "csc":
            service = stack.enter_context(provider("v2", folder, patch, key=key, root=root))
            yield Placed(place, service.address, folder / "root.pem", "", root, CLIENT)
            return
        (folder / "seal.pem").write_bytes(pkcs8(key))
        yield Placed(place, str(folder / "seal.pem"), root.chain(folder, key.public_key()), "", root)
