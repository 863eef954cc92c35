"""A signing key of any kind, in any place where keys live."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from paraph.kernel import tokens
from paraph.keys import CscClient, SigningKey, open_key
from tests.keys import soft_tokens
from tests.keys.certified_keys import Kind, Root, make_key, make_root, pkcs8
from tests.keys.csc_service import CLIENT, provider
from tests.keys.kms_service import moto_key, moto_kms

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
        key = make_key(kind)
        if place == "csc":
            service = stack.enter_context(provider("v2", folder, patch, key=key, root=root))
            yield Placed(place, service.address, folder / "root.pem", "", root, CLIENT)
            return
        chain = root.chain(folder, key.public_key())
        if place == "file":
            (folder / "seal.pem").write_bytes(pkcs8(key))
            yield Placed(place, str(folder / "seal.pem"), chain, "", root)
            return
        label = f"seals {tokens.random_hex(4)}"
        address = soft_tokens.address(label, "seal")
        soft_tokens.make_token(label)
        stack.callback(soft_tokens.remove_token, label, there=False)
        soft_tokens.put_key(label, key, "seal", "a1", folder)
        yield Placed(place, address, chain, soft_tokens.PIN, root)
