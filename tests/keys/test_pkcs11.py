"""Keys in PKCS#11 tokens of the real SoftHSM: found, checked, used, lost and found again."""

import ctypes
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pkcs11
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from pkcs11 import Attribute, KeyType, TokenFlag

from paraph.kernel.errors import DomainError
from paraph.keys import SigningKey, open_key, pkcs11_key
from paraph.keys.certificates import PublicKey
from paraph.keys.pkcs11_key import DedicatedThread, address_of, parse
from tests.keys import certified_keys, soft_tokens
from tests.keys.certified_keys import Kind, is_signature, make_key
from tests.keys.odd_chains import pss
from tests.keys.soft_tokens import PIN, Token, address, make_token, module, remove_token


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[[Kind], Token]]:
    with ExitStack() as stack:
        yield lambda kind: stack.enter_context(soft_tokens.token(kind, tmp_path))


@pytest.fixture
def token(make: Callable[[Kind], Token]) -> Token:
    return make("p-256")


def opened(token: Token, label: str = "seal", passphrase: str = PIN, **query: str) -> SigningKey:
    return open_key(address(token.label, label, **query), token.chain, passphrase)


def bare(token: Token) -> pkcs11.Token:
    """Return the token itself, not opened by our code. Call :func:`opened` first, so that the module knows it."""
    return next(one for one in pkcs11.lib(str(module())).get_tokens() if one.label == token.label)


def refusal(code: str, work: Callable[[], object]) -> str:
    return certified_keys.refusal(code, work, PIN)


def test_a_token_that_does_not_hash(make: Callable[[Kind], Token]) -> None:
    token = make("rsa")
    certificate = opened(token).certificate
    session = bare(token).open()
    (key,) = session.get_objects({Attribute.CLASS: pkcs11.ObjectClass.PRIVATE_KEY})
    assert is_signature(certificate, b"message", pkcs11_key._signer(key, set(), PIN)(b"message"))


def test_the_pin_stands_in_a_file_or_in_the_setting(token: Token) -> None:
    file = token.folder / "pin"
    file.write_text(f"{PIN}\n")
    assert opened(token, passphrase="", pin_source=f"file:{file}").sign(b"message").value
    file.unlink()
    said = refusal("configuration", lambda: opened(token, passphrase="", pin_source=f"file:{file}"))
    assert said == f"The PIN file {file} cannot be read: No such file or directory."
    assert "wants a PIN" in refusal("configuration", lambda: opened(token, passphrase=""))


def test_a_refused_pin_is_not_tried_again(token: Token) -> None:
    """Hardware tokens lock after a few wrong PINs."""

    def tried() -> bool:
        """Return whether the token has seen a wrong PIN since the last right one."""
        return bool(bare(token).flags & TokenFlag.USER_PIN_COUNT_LOW)

    assert "refuses its PIN" in refusal("configuration", lambda: opened(token, passphrase="wrong"))
    assert tried()
    session = bare(token).open(user_pin=PIN)
    assert not tried()
    session.close()
    assert "refuses its PIN" in refusal("configuration", lambda: opened(token, passphrase="wrong"))
    assert not tried()


def test_what_is_missing_is_named(token: Token) -> None:
    assert 'holds no private key with label "absent"' in refusal("configuration", lambda: opened(token, "absent"))
    elsewhere = address("absent", "seal")
    said = refusal("configuration", lambda: open_key(elsewhere, token.chain, PIN))
    assert said.endswith('shows no token with token "absent"; one is needed.')
    nowhere = "pkcs11:object=seal?module-path=/nowhere/libsofthsm2.so"
    said = refusal("configuration", lambda: open_key(nowhere, token.chain, PIN))
    assert said == "The PKCS#11 module /nowhere/libsofthsm2.so does not exist."
    text = token.folder / "text.so"
    text.write_text("no library")
    said = refusal("configuration", lambda: open_key(f"pkcs11:object=seal?module-path={text}", token.chain, PIN))
    assert "text.so cannot be used" in said


def test_two_keys_of_one_name_are_told_apart_by_their_id(token: Token) -> None:
    token.put(make_key("p-256"), identifier="b2")
    assert "holds 2 private keys" in refusal("configuration", partial(opened, token))
    uri = address(token.label, "seal").replace(";object", ";id=%A1;object")
    key = open_key(uri, token.chain, PIN)
    assert re.fullmatch(r"pkcs11:token=seals%20\w+;serial=\w+;object=seal;id=%A1", key.key_id)
    assert key.sign(b"message").request_id == "" and len(key.chain) == 1
    assert "does not match its certificate" in refusal(
        "configuration", lambda: open_key(uri.replace("%A1", "%B2"), token.chain, PIN)
    )


def test_a_certificate_for_pss_alone(make: Callable[[Kind], Token]) -> None:
    token, odd = make("rsa"), pss()
    _, certificates = odd.write(token.folder)
    own = load_pem_private_key(odd.key, None)
    assert isinstance(own, rsa.RSAPrivateKey)
    token.put(own, "pss", "b2")
    said = refusal("configuration", lambda: open_key(address(token.label, "pss"), certificates, PIN))
    assert said == f"{certificates}: The certificate of a key in a token must not be for RSASSA-PSS alone."


def test_a_lost_session_is_opened_again(token: Token) -> None:
    key = opened(token)
    pkcs11.lib(str(module())).finalize()
    assert is_signature(key.certificate, b"message", key.sign(b"message").value)


def test_after_a_loss_the_module_starts_anew(token: Token) -> None:
    """Many modules notice only after a new start that a token is back."""
    key = opened(token)
    session: Any = bare(token).open()
    assert ctypes.CDLL(str(module())).C_Logout(ctypes.c_ulong(session.handle)) == 0
    assert is_signature(key.certificate, b"message", key.sign(b"message").value)
    with pytest.raises(pkcs11.SessionHandleInvalid):
        session.generate_random(64)


def test_a_lost_token_is_waited_for(token: Token) -> None:
    key = opened(token)
    remove_token(token.label)
    assert "shows no token" in refusal("unavailable", lambda: key.sign(b"message"))
    make_token(token.label)
    assert "holds no private key" in refusal("unavailable", lambda: key.sign(b"message"))
    token.put(token.key)
    assert is_signature(key.certificate, b"message", key.sign(b"message").value)


def test_a_token_that_hangs_is_not_waited_for(token: Token, monkeypatch: pytest.MonkeyPatch) -> None:
    key = opened(token)
    with monkeypatch.context() as moment:
        moment.setattr(pkcs11_key, "SECONDS", 0.0)
        assert "has not answered within" in refusal("unavailable", lambda: key.sign(b"message"))
    assert key.sign(b"message").value


def test_a_key_that_wants_its_pin_at_each_signature(token: Token) -> None:
    opened(token)
    session = bare(token).open(rw=True)
    template = {Attribute.ALWAYS_AUTHENTICATE: True, Attribute.EXTRACTABLE: False}
    session.generate_keypair(KeyType.RSA, 2048, store=True, label="card", private_template=template)
    (public,) = session.get_objects({Attribute.CLASS: pkcs11.ObjectClass.PUBLIC_KEY, Attribute.LABEL: "card"})
    chain = token.root.chain(token.folder, _rsa(public))
    session.close()
    key = open_key(address(token.label, "card"), chain, PIN)
    assert is_signature(key.certificate, b"message", key.sign(b"message").value)


def test_many_threads_share_one_key(token: Token) -> None:
    key = opened(token)

    def sign(number: int) -> bool:
        return is_signature(key.certificate, b"%d" % number, key.sign(b"%d" % number).value)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(sign, range(100)))


def test_a_module_is_started_once_by_threads_that_come_together(token: Token) -> None:
    """Two threads that start a module at once crash the process."""
    program = """
key, barrier, signed = None, threading.Barrier(8), []
def run():
    barrier.wait()
    signed.append(open_key(*arguments).sign(b"message").value)
threads = [threading.Thread(target=run) for _ in range(8)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
sys.exit(len(signed) != 8)
"""
    assert_runs(program, token)


def test_a_forked_process_signs_too(token: Token) -> None:
    program = """
key = open_key(*arguments)
key.sign(b"message")
child = os.fork()
if child == 0:
    os._exit(0 if key.sign(b"message").value else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert_runs(program, token)


def assert_runs(program: str, token: Token) -> None:
    """Run the program in a process of its own, and assert that it ends without an error."""
    beginning = """
import os, sys, threading, warnings
from pathlib import Path
from paraph.keys import open_key
warnings.simplefilter("ignore")
arguments = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
"""
    command = [sys.executable, "-c", beginning + program, address(token.label, "seal"), str(token.chain), PIN]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def _rsa(public: pkcs11.Object) -> PublicKey:
    numbers = (public[name] for name in (Attribute.PUBLIC_EXPONENT, Attribute.MODULUS))
    exponent, modulus = (int.from_bytes(number, "big") for number in numbers)
    return rsa.RSAPublicNumbers(exponent, modulus).public_key()


def test_every_part_is_read_and_the_name_is_an_address_again() -> None:
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


def test_results_and_errors_come_back_from_one_thread() -> None:
    thread = DedicatedThread("test")
    first, second = (thread.call(threading.get_ident, 5) for _ in range(2))
    assert first == second != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        thread.call(lambda: 1 // 0, 5)
    assert thread.call(lambda: "still there", 5) == "still there"


def test_a_hanging_call_is_left_and_those_behind_it_are_never_made() -> None:
    thread, released, made = DedicatedThread("test"), threading.Event(), list[str]()
    for work in (released.wait, lambda: made.append("too late")):
        with pytest.raises(TimeoutError):
            thread.call(work, 0.05)
    released.set()
    thread.call(lambda: made.append("after"), 5)
    assert made == ["after"]
