"""What an installation trusts, known without opening a key that lies elsewhere."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from paraph.kernel.errors import DomainError
from paraph.kernel.settings import Settings
from paraph.keys.sealing import trusted_roots
from tests.keys.certified_keys import make_key, make_root


@pytest.mark.parametrize("address", ["pkcs11:object=seal?module-path=/nowhere.so", "awskms:alias/nowhere", "/nowhere"])
def test_the_root_of_a_key_that_is_not_here(address: str, tmp_path: Path) -> None:
    root = make_root()
    chain = root.chain(tmp_path, make_key("p-256").public_key())
    settings = Settings(sealing_key=address, sealing_certificate=chain)
    assert trusted_roots(settings, tmp_path) == [root.certificate.public_bytes(Encoding.DER)]


def test_without_a_certificate_file_the_key_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match="cannot be read"):
        trusted_roots(Settings(sealing_key="/nowhere.p12"), tmp_path)
    assert trusted_roots(Settings(), tmp_path) == []
