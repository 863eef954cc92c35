"""Addresses of PKCS#11 keys (RFC 7512)."""

from pathlib import Path

import pytest

from paraph.kernel.errors import DomainError
from paraph.keys.pkcs11_key import address_of, parse


def test_every_part_is_read() -> None:
    uri = parse(
        "pkcs11:model=SoftHSM%20v2;manufacturer=SoftHSM%20project;serial=6e55;token=my%3Btoken;id=%01%ab;"
        "object=the%20seal;type=private?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/run/secrets/p%20in"
    )
    assert uri.module == Path("/usr/lib/softhsm/libsofthsm2.so")
    assert uri.token == {
        "model": "SoftHSM v2",
        "manufacturer": "SoftHSM project",
        "serial": "6e55",
        "token": "my;token",
    }
    assert (uri.label, uri.id) == ("the seal", b"\x01\xab")
    assert uri.pin_file == Path("/run/secrets/p in")


def test_the_name_is_an_address_again() -> None:
    name = address_of("my;token", "6e55", "the sea=l", b"\x01\xab")
    assert name == "pkcs11:token=my%3Btoken;serial=6e55;object=the%20sea%3Dl;id=%01%AB"
    again = parse(f"{name}?module-path=/m.so")
    assert (again.token["token"], again.label, again.id) == ("my;token", "the sea=l", b"\x01\xab")


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("pkcs11:object=seal", "lacks ?module-path="),
        ("pkcs11:token=t?module-path=/m.so", "names no key"),
        ("pkcs11:object=seal;type=cert?module-path=/m.so", "must name a private key"),
        ("pkcs11:lable=seal?module-path=/m.so", "'lable' cannot be used there"),
        ("pkcs11:object=a;object=b?module-path=/m.so", "'object' cannot be used there"),
        ("pkcs11:object=seal?module-path=/m.so&pin-value=1234", "a PIN does not belong there"),
        ("pkcs11:object=seal;pin-value=1234?module-path=/m.so", "a PIN does not belong there"),
        ("pkcs11:object=seal?module-path=/m.so&pin-source=1234", "pin-source must be file:"),
        ("pkcs11:object?module-path=/m.so", "'object' cannot be used there"),
    ],
)
def test_what_is_no_address_is_told_without_repeating_a_pin(address: str, why: str) -> None:
    with pytest.raises(DomainError) as refused:
        parse(address)
    assert refused.value.code == "configuration"
    assert refused.value.message.startswith("PARAPH_SEALING_KEY is no address of a PKCS#11 key: ")
    assert why in refused.value.message and "1234" not in refused.value.message
