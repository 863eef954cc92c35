"""Keys at a provider of remote seals: ours, which follows both published versions of the API and can throttle, refuse,
hang and lie, and certomancer's, which others have written."""

import base64
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pytest

from paraph.kernel import tokens
from paraph.keys import CscClient, csc_key, csc_provider, open_key
from tests.keys import certified_keys
from tests.keys.certified_keys import ALGORITHMS, KINDS, Kind, is_signature, make_key, make_root
from tests.keys.csc_service import (
    CLIENT,
    ECDSA_SHA256,
    RSA,
    RSA_PSS,
    RSA_SHA256,
    Fault,
    Provider,
    Version,
    certomancer_provider,
    fault,
    hang_up,
    provider,
    silence,
)
from tests.keys.odd_chains import issued, name
from tests.pdf.forge import usage
from tests.pdf.pdf_factory import flipped

VERSIONS: list[Version] = ["v1", "v2"]
BOTH = pytest.mark.parametrize("version", VERSIONS)


class Begin(Protocol):
    def __call__(self, version: Version, **options: Any) -> Provider: ...


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    monkeypatch.setattr(csc_provider, "_PAUSES", (0.0, 0.0))
    with ExitStack() as stack:
        yield lambda version, **options: stack.enter_context(provider(version, tmp_path, monkeypatch, **options))


@pytest.fixture
def version() -> Version:
    """Return the version for tests that name none."""
    return "v2"


@pytest.fixture
def service(begin: Begin, version: Version) -> Provider:
    return begin(version)


def refusal(code: str, work: Callable[[], object]) -> str:
    return certified_keys.refusal(code, work, CLIENT.secret, CLIENT.pin)


@BOTH
@pytest.mark.parametrize("kind", KINDS)
def test_each_seal_has_an_authorization_of_its_own_and_only_the_digest_travels(
    begin: Begin, version: Version, kind: Kind
) -> None:
    service = begin(version, key=make_key(kind))
    signing = service.open()
    assert service.asked == ["info", "oauth2/token", "credentials/info"] and service.signed == 0
    assert (signing.key_id, signing.algorithm, len(signing.chain)) == (service.address, ALGORITHMS[kind], 1)
    first, second = signing.sign(b"message"), signing.sign(b"a text that nobody else reads")
    assert is_signature(signing.certificate, b"message", first.value)
    assert is_signature(signing.certificate, b"a text that nobody else reads", second.value)
    assert service.asked[3:] == ["credentials/authorize", "signatures/signHash"] * 2 and service.signed == 2
    named = [body["clientData"] for _, body in service.calls[3:]]
    assert named == [first.request_id] * 2 + [second.request_id] * 2 and first.request_id != second.request_id
    (_, authorized), (_, signed) = service.calls[-2:]
    digests, digest = "hash" if version == "v1" else "hashes", tokens.sha256(b"a text that nobody else reads")
    assert authorized[digests] == signed[digests] == [base64.b64encode(digest).decode()]
    assert authorized["numSignatures"] == 1 and not {"hashAlgo", "hashAlgorithmOID"} & signed.keys()
    assert signed["signAlgo"] == {"rsa": RSA_SHA256, "p-256": ECDSA_SHA256}[kind]
    assert "nobody else reads" not in str(service.calls)


@BOTH
@pytest.mark.parametrize(
    ("offered", "algorithm"),
    [([RSA], "RSASSA_PKCS1_V1_5_SHA_256"), ([RSA_PSS, "1.2.840.113549.1.1.13"], "RSASSA_PSS_SHA_256")],
)
def test_algorithms_are_those_of_the_credential(
    begin: Begin, version: Version, offered: list[str], algorithm: str
) -> None:
    service = begin(version, key=make_key("rsa"))
    service.credential["key"]["algo"] = offered
    signing = service.open()
    assert signing.algorithm == algorithm
    is_pss = algorithm == "RSASSA_PSS_SHA_256"
    assert is_signature(signing.certificate, b"message", signing.sign(b"message").value, is_pss=is_pss)
    service.credential["key"]["algo"] = [ECDSA_SHA256, "1.2.840.113549.1.1.13"]
    assert "signs by 1.2.840.10045.4.3.2, 1.2.840.113549.1.1.13 alone" in refusal("configuration", service.open)


def test_many_seals_at_once(begin: Begin) -> None:
    service = begin("v2", key=make_key("p-256"))
    signing = service.open()
    with ThreadPoolExecutor(8) as threads:
        signatures = list(threads.map(lambda number: signing.sign(b"%d" % number).value, range(24)))
    for number, signature in enumerate(signatures):
        assert is_signature(signing.certificate, b"%d" % number, signature)
    assert service.asked.count("credentials/authorize") == 24 and service.asked.count("oauth2/token") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_provider_that_others_have_written(kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with certomancer_provider(tmp_path, monkeypatch, make_key(kind)) as address:
        signing = open_key(address, tmp_path / "root.pem")
        assert (signing.key_id, signing.algorithm, len(signing.chain)) == (address, ALGORITHMS[kind], 1)
        assert is_signature(signing.certificate, b"message", signing.sign(b"message").value)
        unknown = address.replace("acme/seal", "acme/nobody")
        said = refusal("configuration", lambda: open_key(unknown, tmp_path / "root.pem"))
        assert said.startswith("The CSC credential acme/nobody at localhost:") and "HTTP status 404" in said
        with_client = partial(open_key, address, tmp_path / "root.pem", client=CLIENT)
        assert "takes no OAuth 2.0 client credentials (authType external)" in refusal("configuration", with_client)


@BOTH
def test_an_access_token_is_asked_for_when_it_is_needed(service: Provider) -> None:
    signing = service.open()
    assert service.calls[1][1] | {"client_secret": ""} == {
        "grant_type": "client_credentials", "scope": "service", "client_id": "acme", "client_secret": ""
    }  # fmt: skip
    signing.sign(b"message")
    assert service.asked.count("oauth2/token") == 1
    service.forget_tokens()
    assert signing.sign(b"message").value and service.asked.count("oauth2/token") == 2
    service.expires_in = 20  # less than the client's safety margin
    service.forget_tokens()
    signing.sign(b"message")
    signing.sign(b"message")
    assert service.asked.count("oauth2/token") >= 5 and service.asked.count("info") == 1


def test_a_client_that_the_provider_does_not_know(service: Provider) -> None:
    said = refusal("configuration", lambda: service.open(CscClient("acme", "guessed", CLIENT.pin)))
    assert said.endswith(" cannot be used: invalid_client (Invalid parameter client_secret).")
    assert service.asked == ["info", "oauth2/token"]
    said = refusal("configuration", lambda: service.open(CscClient()))
    assert said.endswith("its provider wants PARAPH_CSC_CLIENT_ID (authType oauth2client).")
    service.info["authType"] = ["basic", "oauth2code"]
    said = refusal("configuration", service.open)
    assert "takes no OAuth 2.0 client credentials (authType basic, oauth2code)" in said
    service.info["authType"] = ["TLS"]
    assert service.open(CscClient(pin=CLIENT.pin)).sign(b"message").value


def test_where_tokens_are_given_is_found(service: Provider) -> None:
    service.info["oauth2"] = f"{service.url}/oauth2/"
    assert service.open().sign(b"message").value
    service.info |= {"oauth2": None, "oauth2Issuer": service.url}
    service.metadata = {"issuer": service.url, "token_endpoint": f"{service.url}/oauth2/token"}
    assert service.open().sign(b"message").value
    assert ".well-known/oauth-authorization-server" in service.asked
    asked = service.asked.count("oauth2/token")
    plain = service.url.replace("https:", "http:")
    for info, metadata in (
        ({"oauth2": plain}, {}),
        ({"oauth2": service.url.replace("//", "//user:word@")}, {}),
        ({"oauth2": "https://[::1"}, {}),
        ({"oauth2": None, "oauth2Issuer": plain}, {}),
        ({"oauth2": None, "oauth2Issuer": None}, {}),
        ({}, {"issuer": "https://somebody.example"}),
        ({}, {"token_endpoint": f"{plain}/oauth2/token"}),
    ):
        was = dict(service.info), dict(service.metadata)
        service.info.update(info)
        service.metadata.update(metadata)
        assert "no address of HTTPS for access tokens" in refusal("configuration", service.open)
        service.info, service.metadata = was
    assert service.asked.count("oauth2/token") == asked


@BOTH
def test_a_refused_pin_is_not_tried_again(service: Provider, version: Version) -> None:
    client = CscClient(CLIENT.id, CLIENT.secret, "999999")
    signing, another = service.open(client), service.open(client)
    error = "invalid_pin" if version == "v1" else "invalid_authentication_data"
    assert f"{error} (The authentication data is invalid)" in refusal("configuration", lambda: signing.sign(b"message"))
    for each in (signing, another):
        said = refusal("configuration", partial(each.sign, b"message"))
        assert "refused PARAPH_CSC_PIN, which is not tried again" in said
    assert service.asked.count("credentials/authorize") == 1
    assert service.open().sign(b"message").value


_PIN = {"type": "Password", "id": "PIN"}
_OTP = {"type": "Password", "id": "OTP", "generator": "totp"}
_SMS = {"type": "PasswordOOB", "id": "SMS"}


@pytest.mark.parametrize(
    ("version", "credential", "is_needed"),
    [
        ("v1", {"authMode": "implicit"}, False),
        ("v1", {"PIN": {"presence": "optional"}}, False),
        ("v1", {"OTP": {"presence": "optional"}}, True),
        ("v2", {"auth": {"mode": "explicit", "objects": []}}, False),
        ("v2", {"auth": {"mode": "explicit", "objects": None, "expression": None}}, False),
        ("v2", {"auth": {"mode": "explicit", "expression": "PIN OR OTP", "objects": [_PIN, _OTP]}}, True),
    ],
)
def test_what_authorizes_a_seal(service: Provider, credential: dict[str, Any], *, is_needed: bool) -> None:
    service.credential |= credential
    without = CscClient(CLIENT.id, CLIENT.secret)
    if is_needed:
        assert "wants the PIN of PARAPH_CSC_PIN" in refusal("configuration", lambda: service.open(without))
        assert service.open().sign(b"message").value
    else:
        service.open(without)
        assert credential.get("PIN") or service.open(without).sign(b"message").value


@pytest.mark.parametrize(
    ("version", "credential", "mode"),
    [
        ("v1", {"authMode": "oauth2code"}, "oauth2code"),
        ("v1", {"OTP": {"presence": "true", "type": "offline"}}, "explicit"),
        ("v1", {"authMode": None}, ""),
        ("v2", {"auth": {"mode": "oauth2code"}}, "oauth2code"),
        ("v2", {"auth": {"mode": "explicit", "expression": "PIN AND OTP", "objects": [_PIN, _OTP]}}, "explicit"),
        ("v2", {"auth": {"mode": "explicit", "objects": [_PIN, _SMS]}}, "explicit"),
        ("v2", {"auth": {"mode": "explicit", "objects": [_SMS]}}, "explicit"),
        ("v2", {"auth": None}, ""),
    ],
)
def test_a_credential_that_needs_a_person(service: Provider, credential: dict[str, Any], mode: str) -> None:
    service.credential |= credential
    said = refusal("configuration", service.open)
    assert said.endswith(f"its provider wants a person at each seal, not just a PIN (mode {mode}).")


@BOTH
@pytest.mark.parametrize("method", ["credentials/authorize", "signatures/signHash"])
def test_what_passes_is_tried_three_times(service: Provider, method: str) -> None:
    """Each attempt gets a new authorization, as nobody knows whether the last one was used."""
    signing = service.open()
    service.calls.clear()
    service.faults[method] = [fault(503), fault(429, b'{"error": "too_many_requests"}')]
    assert is_signature(signing.certificate, b"message", signing.sign(b"message").value)
    assert service.asked.count(method) == service.asked.count("credentials/authorize") == 3
    busy = b'{"error": "temporarily_unavailable", "error_description": "Maintenance\\n until noon."}'
    service.faults[method] = [fault(400, busy)] * 3
    said = refusal("unavailable", lambda: signing.sign(b"message"))
    assert said.endswith(" cannot be asked: temporarily_unavailable (Maintenance until noon).")
    assert signing.sign(b"message").value


@BOTH
def test_what_waiting_does_not_cure_is_said_at_once(service: Provider) -> None:
    signing = service.open()
    locked = b'{"error": "invalid_request", "error_description": "Credential locked"}'
    service.faults["credentials/authorize"] = [fault(400, locked)]
    host = service.url.removeprefix("https://")
    said = refusal("configuration", lambda: signing.sign(b"message"))
    assert said == f"The CSC credential GX0112348 at {host} cannot be used: invalid_request (Credential locked)."
    service.faults["signatures/signHash"] = [fault(403)]
    assert "HTTP status 403" in refusal("configuration", lambda: signing.sign(b"message"))
    assert service.asked[3:] == ["credentials/authorize"] * 2 + ["signatures/signHash"]
    service.faults["credentials/authorize"] = [fault(401, b'{"error": "invalid_token"}')] * 2
    assert "invalid_token" in refusal("configuration", lambda: signing.sign(b"message"))


def test_a_provider_that_hangs_or_vanishes(service: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signing = service.open()
    with monkeypatch.context() as moment:
        moment.setattr(csc_provider, "_ANSWER_SECONDS", 0.3)
        service.faults["signatures/signHash"] = [silence] * 3
        assert "cannot be asked: no answer within 0.3 s" in refusal("unavailable", lambda: signing.sign(b"message"))
        moment.setattr(csc_provider, "_SECONDS", 0.1)
        service.faults["signatures/signHash"] = [silence]
        service.calls.clear()
        assert "no answer within" in refusal("unavailable", lambda: signing.sign(b"message"))
        assert len(service.calls) <= 2  # no attempt begins after the time for all of them
    service.faults["credentials/info"] = [hang_up] * 3
    assert "it cannot be reached" in refusal("unavailable", service.open)
    nobody = "csc+https://localhost:1/csc/v2?credential=1"
    said = refusal("unavailable", lambda: open_key(nobody, tmp_path / "root.pem", client=CLIENT))
    assert "it cannot be reached" in said


def test_a_server_that_nobody_vouches_for_is_told_no_secret(service: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    assert "certificate verify failed" in refusal("unavailable", service.open)
    assert service.calls == []


def test_every_call_is_bounded() -> None:
    """Three attempts take 2 s each to connect and 8 s to answer, 20 s in all: less than a worker is given to end."""
    assert (csc_provider._CONNECT_SECONDS, csc_provider._ANSWER_SECONDS, csc_provider._SECONDS) == (2.0, 8.0, 20.0)
    assert len(csc_provider._PAUSES) == 2


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (fault(200, b"<html>Welcome</html>"), "configuration", "what it answers cannot be used"),
        (fault(200, b"[" * 100_000), "configuration", "what it answers cannot be used"),
        (fault(200, b"[]"), "configuration", "what it answers cannot be used"),
        (fault(200, b'{"SAD": ""}'), "configuration", "what it answers cannot be used: SAD"),
        (fault(202, b'{"handle": "8"}'), "configuration", "waits for somebody to approve each seal"),
        (fault(302), "configuration", "HTTP status 302"),
        (fault(200, b" " * 300_000), "unavailable", "too large"),
    ],
)
def test_answers_that_are_none(service: Provider, answer: Fault, code: str, said: str) -> None:
    signing = service.open()
    service.faults["credentials/authorize"] = [answer] * 3
    assert said in refusal(code, lambda: signing.sign(b"message"))
    assert service.signed == 0


@BOTH
@pytest.mark.parametrize("kind", KINDS)
def test_a_signature_that_is_wrong_seals_nothing(begin: Begin, version: Version, kind: Kind) -> None:
    service = begin(version, key=make_key(kind))
    signing = service.open()
    service.changed = flipped
    said = refusal("configuration", lambda: signing.sign(b"message"))
    assert said.endswith("its provider returned a signature that its certificate does not verify.")
    service.faults["signatures/signHash"] = [fault(200, b'{"signatures": ["AAAA", "AAAA"]}')]
    assert "signatures" in refusal("configuration", lambda: signing.sign(b"message"))
    service.faults["signatures/signHash"] = [fault(200, b'{"responseID": "158112"}')]
    assert "signatures: Field required" in refusal("configuration", lambda: signing.sign(b"message"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"without_basics": True}, "has no key usage for signatures"),
        ({"without_basics": True, "extensions": [usage("key_encipherment")]}, "may not be used for signatures, says"),
        ({"days": (-20, -10)}, "expired on"),
    ],
)
def test_a_certificate_that_may_not_sign(begin: Begin, arguments: dict[str, Any], said: str) -> None:
    authority, own = make_root(), make_key("p-256")
    leaf = issued(name("Seal"), own.public_key(), authority.certificate.subject, authority.key, **arguments)
    service = begin("v2", key=own, root=authority, certificates=[leaf, authority.certificate])
    told = refusal("configuration", service.open)
    assert told.startswith(f"{service.address}: ") and said in told


def test_the_root_is_the_operators(begin: Begin, tmp_path: Path) -> None:
    """A root counts only if the operator's file has it, whether or not the provider sends it."""
    authority, own = make_root(), make_key("p-256")
    service = begin("v2", key=own, root=authority)
    for certificates in (service.certificates, [authority.issue(own.public_key())]):
        service.certificates = certificates
        service.begin(service.url)
        assert len(service.open().chain) == 1
    service.certificates = [*service.certificates, authority.certificate]
    service.begin(service.url)
    make_root().pem(tmp_path)
    assert service.open().chain == ()


@pytest.mark.parametrize(
    ("part", "status"), [("key", "disabled"), ("cert", "revoked"), ("cert", "suspended"), ("cert", "expired")]
)
def test_a_credential_that_is_not_ready(service: Provider, part: str, status: str) -> None:
    signing = service.open()
    assert isinstance(signing, csc_key.CscKey)
    service.credential[part]["status"] = status
    for work in (service.open, signing.check_usable):
        assert f"what it answers cannot be used: {part}.status" in refusal("configuration", work)


def test_a_certificate_that_was_renewed(begin: Begin) -> None:
    authority, own = make_root(), make_key("p-256")
    service = begin("v2", key=own, root=authority)
    signing = service.open()
    assert isinstance(signing, csc_key.CscKey)
    signing.check_usable()
    assert service.signed == 0
    service.certificates[0] = authority.issue(own.public_key(), "Seal of next year")
    service.begin(service.url)
    assert "its certificate has changed: a restart takes the new one" in refusal("configuration", signing.check_usable)
    assert service.open().certificate != signing.certificate


@pytest.mark.parametrize("damaged", ["", "AAAA", "no base64!"])
def test_certificates_that_cannot_be_read(service: Provider, damaged: str) -> None:
    service.credential["cert"]["certificates"] = [damaged] if damaged else []
    refusal("configuration", service.open)


@pytest.mark.parametrize(
    "address",
    [
        "csc+http://api.example/csc/v2?credential=1",
        "csc+https:///csc/v2?credential=1",
        "csc+https://api.example/csc/v0?credential=1",
        "csc+https://api.example/csc/v2",
        "csc+https://api.example/csc/v2?credential=",
        "csc+https://api.example/csc/v2?credential=1&pin=2468",
        "csc+https://user:2468@api.example/csc/v2?credential=1",
        "csc+ftp://api.example/csc/v2?credential=1",
        "csc+https://[::1/csc/v2?credential=1",
    ],
)
def test_an_address_of_another_form(address: str, tmp_path: Path) -> None:
    make_root().pem(tmp_path)
    said = refusal("configuration", lambda: open_key(address, tmp_path / "root.pem", client=CLIENT))
    assert "must be csc+https://HOST/csc/v2?credential=ID" in said and "2468" not in said
