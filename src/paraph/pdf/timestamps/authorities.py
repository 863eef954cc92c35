"""Timestamp authorities (RFC 3161): the built-in one, those reached over HTTP, and which of them the settings name."""

import atexit
import hashlib
import os
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from cryptography.hazmat.primitives.serialization import Encoding

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.keys import DevelopmentAuthority
from paraph.keys.certificates import misconfigured, read_certificates, subject, weakness_of_certificate
from paraph.keys.signing_key import ECDSA_SHA256, SigningKey
from paraph.pdf.pki import der, oids
from paraph.pdf.pki.certificate import load, without_root
from paraph.pdf.pki.der import DerError
from paraph.pdf.pki.oids import OF_SEALS
from paraph.pdf.pki.one_form import ECDSA_WITH_SHA256, RSA_WITH_SHA256, signed_data
from paraph.pdf.pki.statuses import DevelopmentStatuses, LongTerm, StatusSource
from paraph.pdf.timestamps.timestamp import AuthorityFailed, TimestampAuthority, Timestamping

if TYPE_CHECKING:
    from paraph.kernel.settings import Settings

POLICY_OID = "2.25.207415320811283467123150942803476521089"
"""The policy of the built-in authority: an identifier made from a UUID, which needs no registration."""

_LARGEST_REQUEST = 4096
_GRANTED, _REJECTION = 0, 2
_BAD_ALGORITHM, _BAD_REQUEST, _BAD_FORMAT = 0, 2, 5
_UNACCEPTED_POLICY, _UNACCEPTED_EXTENSION, _SYSTEM_FAILURE = 15, 16, 25
_EXTENSIONS = der.CONTEXT | der.CONSTRUCTED
QUERY_TYPE = "application/timestamp-query"
REPLY_TYPE = "application/timestamp-reply"
_LARGEST_REPLY = 256 * 1024
_MOST_REDIRECTS = 3
_REDIRECTS = {301, 302, 307, 308}
_DROPPED = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
"""The errors of a request on a kept connection that the server has already closed."""


class _Rejected(ValueError):
    def __init__(self, failure: int, text: str) -> None:
        super().__init__(text)
        self.failure = failure


class BuiltInAuthority:
    """An authority with one key."""

    name = "built-in"

    def __init__(self, key: SigningKey) -> None:
        """Take a key whose certificate has the critical, sole purpose timeStamping. Raise
        ``DomainError("configuration", …)`` for any other."""
        certificate = load(key.certificate)
        if not certificate.for_timestamps_only:
            raise misconfigured(f"The certificate {certificate.name} is not one for timestamps alone.")
        self._key, self._certificate = key, certificate
        self._algorithm = ECDSA_WITH_SHA256 if key.algorithm == ECDSA_SHA256 else RSA_WITH_SHA256

    def answer(self, request: bytes, timeout: float = 0) -> bytes:
        """Return a TimeStampResp (DER): a token, or a rejection with its reason (RFC 3161 §2.4.2)."""
        del timeout
        try:
            imprint, nonce, certificate_wanted = _read_request(request)
            return der.sequence(der.sequence(der.integer(_GRANTED)), self._token(imprint, nonce, certificate_wanted))
        except _Rejected as rejected:
            return _rejection(rejected.failure, str(rejected))
        except DomainError as error:
            return _rejection(_SYSTEM_FAILURE, error.message)

    def _token(self, imprint: bytes, nonce: bytes, certificate_wanted: bool) -> bytes:
        info = der.sequence(
            der.integer(1),
            der.oid(POLICY_OID),
            imprint,
            der.integer(int.from_bytes(tokens.random_bytes(16), "big") >> 1),
            der.generalized_time(clock.now()),
            der.sequence(der.integer(1)),  # accurate to a second
            nonce,
            der.tlv(0xA0, der.tlv(0xA4, self._certificate.subject)),
        )
        named = der.sequence(der.octet_string(self._certificate.digest("sha256")))  # SHA-256 is the default, so unnamed
        attributes = der.set_of(
            der.attribute(oids.CONTENT_TYPE, der.oid(oids.TST_INFO)),
            der.attribute(oids.SIGNING_CERTIFICATE_V2, der.sequence(der.sequence(named))),
            der.attribute(oids.MESSAGE_DIGEST, der.octet_string(hashlib.sha256(info).digest())),
        )
        return signed_data(
            self._certificate,
            attributes,
            self._algorithm,
            self._key.sign(attributes).value,
            certificates=without_root(self._key.certificate, self._key.chain) if certificate_wanted else None,
            content_type=oids.TST_INFO,
            content=info,
        )


def _read_request(request: bytes) -> tuple[bytes, bytes, bool]:
    """Return the encoded imprint and nonce, and whether the request asks for the certificate."""
    if len(request) > _LARGEST_REQUEST:
        raise _Rejected(_BAD_FORMAT, "The request is too large.")
    try:
        version, imprint, *optional = der.read(request).children()
        if version.integer() != 1:
            raise _Rejected(_BAD_REQUEST, "Only version 1 is known.")
        _check_imprint(imprint)
        return imprint.raw, *_read_optional(optional)
    except (DerError, ValueError) as error:
        if isinstance(error, _Rejected):
            raise
        raise _Rejected(_BAD_FORMAT, "The request is not a TimeStampReq.") from error


def _check_imprint(imprint: der.Element) -> None:
    algorithm, digest = imprint.children()
    name = OF_SEALS.get(algorithm.children()[0].oid()) if algorithm.children() else None
    if name is None:
        raise _Rejected(_BAD_ALGORITHM, "The hash must be SHA-256, SHA-384 or SHA-512.")
    if len(digest.octets()) != hashlib.new(name).digest_size:
        raise _Rejected(_BAD_FORMAT, "The digest does not have the length of its hash.")


def _read_optional(optional: list[der.Element]) -> tuple[bytes, bool]:
    nonce, certificate_wanted = b"", False
    for field in optional:
        if field.tag == der.OID and field.oid() != POLICY_OID:
            raise _Rejected(_UNACCEPTED_POLICY, f"The only policy offered is {POLICY_OID}.")
        if field.tag == _EXTENSIONS:
            raise _Rejected(_UNACCEPTED_EXTENSION, "No extension is offered.")
        if field.tag not in {der.OID, der.INTEGER, der.BOOLEAN}:
            raise _Rejected(_BAD_FORMAT, "The request has a field that is not known.")
        if field.tag == der.INTEGER:
            field.integer()
            nonce = field.raw
        elif field.tag == der.BOOLEAN:
            certificate_wanted = field.content != b"\0"
    return nonce, certificate_wanted


def _rejection(failure: int, text: str) -> bytes:
    last = failure % 8
    bits = bytes((7 - last,)) + b"\0" * (failure // 8) + bytes((0x80 >> last,))
    status = der.sequence(
        der.integer(_REJECTION),
        der.sequence(der.tlv(der.UTF8_STRING, text.encode())),
        der.tlv(der.BIT_STRING, bits),
    )
    return der.sequence(status)


class HttpAuthority:
    """The authority at an address, which may contain a user name and password."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.name = _without_credentials(url)

    def answer(self, request: bytes, timeout: float) -> bytes:
        """Post the request and return the reply, at most 256 KiB. Raise :class:`AuthorityFailed` where none comes.
        Whatever media type the reply has, the token in it is verified. A redirect on the same host is followed; a
        connection that breaks is tried once more with a fresh one."""
        end = time.monotonic() + timeout
        try:
            try:
                return self._reply(_client(os.getpid()), request, end)
            except _DROPPED:
                with httpx.Client(follow_redirects=False) as fresh:
                    return self._reply(fresh, request, end)
        except httpx.TimeoutException as error:
            raise AuthorityFailed(f"no answer within {timeout:.1f} seconds") from error
        except TimeoutError as error:
            raise AuthorityFailed(f"no whole answer within {timeout:.1f} seconds") from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            raise AuthorityFailed(f"it cannot be reached ({type(error).__name__})") from error

    def _reply(self, client: httpx.Client, request: bytes, end: float) -> bytes:
        url = httpx.URL(self._url)
        headers = {"Content-Type": QUERY_TYPE, "Accept": REPLY_TYPE}
        for _ in range(1 + _MOST_REDIRECTS):
            seconds = _left(end)
            limits = httpx.Timeout(seconds, connect=seconds / 2, pool=seconds / 2)
            with client.stream("POST", url, content=request, headers=headers, timeout=limits) as response:
                if response.status_code not in _REDIRECTS:
                    return _body(response, end)
                url = _target(url, response.headers.get("location", ""))
        raise AuthorityFailed(f"it redirects more than {_MOST_REDIRECTS} times")


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _target(url: httpx.URL, location: str) -> httpx.URL:
    """Return where a redirect leads. Only the operator may send us to another host, or back to http."""
    target = url.join(location)
    if target.host != url.host or target.scheme not in {url.scheme, "https"}:
        shown = _without_credentials(str(target))
        raise AuthorityFailed(f"it redirects to {shown}, which PARAPH_TIMESTAMP_AUTHORITIES may name instead")
    return target.copy_with(username=url.username, password=url.password)


def _body(response: httpx.Response, end: float) -> bytes:
    if response.status_code != 200:
        raise AuthorityFailed(f"it answered with HTTP status {response.status_code}")
    body = b""
    for part in response.iter_bytes():
        body += part
        if len(body) > _LARGEST_REPLY:
            raise AuthorityFailed("its answer is too large")
        _left(end)
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != REPLY_TYPE and body[:1] != b"\x30":
        raise AuthorityFailed(f"it answered with {media_type or 'no media type'} instead of a timestamp")
    return body


@lru_cache(maxsize=1)
def _client(process: int) -> httpx.Client:
    """Return the connection pool of the process: a forked one must not share its parent's sockets."""
    del process
    client = httpx.Client(follow_redirects=False)
    atexit.register(client.close)
    return client


def _without_credentials(url: str) -> str:
    try:
        return str(httpx.URL(url).copy_with(username=None, password=None, query=None))
    except (httpx.InvalidURL, TypeError, ValueError):
        return "the timestamp authority with an impossible address"


def timestamping(settings: "Settings", development: DevelopmentAuthority) -> Timestamping:
    """Open the authorities of ``PARAPH_TIMESTAMP_AUTHORITIES`` with the roots of ``PARAPH_TIMESTAMP_ROOTS``.

    The built-in authority brings its own root; at the level B-B there are no authorities. Raise
    ``DomainError("configuration", …)`` for an address that is not http or https, for a root that cannot be used, and
    for authorities elsewhere without roots, whose tokens could never be verified.
    """
    names = settings.timestamp_authorities if settings.seal_level != "B-B" else []
    authorities = [_authority(name, development) for name in names]
    roots = [development.root] if BuiltInAuthority.name in names else []
    if settings.timestamp_roots is not None:
        roots += _usable_roots(settings.timestamp_roots)
    elif any(name != BuiltInAuthority.name for name in names):
        raise misconfigured("PARAPH_TIMESTAMP_ROOTS must name the roots that the timestamp authorities chain to.")
    return Timestamping(authorities, roots)


def long_term(settings: "Settings", development: DevelopmentAuthority, *others: StatusSource) -> LongTerm | None:
    """Return how seals reach a ``PARAPH_SEAL_LEVEL`` above B-T; ``None`` for lower levels. ``others``: sources of
    statuses for certificates that are not the development authority's."""
    if settings.seal_level in ("B-B", "B-T"):
        return None
    first = settings.timestamp_authorities[:1] == [BuiltInAuthority.name]
    key = development.timestamp_key
    return LongTerm(
        [DevelopmentStatuses(development), *others],
        archive=settings.seal_level == "B-LTA",
        authority_chain=(key.certificate, *key.chain) if first else (),
    )


def _usable_roots(path: Path) -> list[bytes]:
    roots = read_certificates(path)
    for root in roots:
        if weakness := weakness_of_certificate(root, clock.now(), is_root=True):
            raise misconfigured(f"{path}: {subject(root)} {weakness}.")
    return [root.public_bytes(Encoding.DER) for root in roots]


def _authority(name: str, development: DevelopmentAuthority) -> TimestampAuthority:
    if name == BuiltInAuthority.name:
        return BuiltInAuthority(development.timestamp_key)
    if name.startswith(("http://", "https://")):
        return HttpAuthority(name)
    raise misconfigured(
        f'PARAPH_TIMESTAMP_AUTHORITIES has "{name}", which is neither an http address nor {BuiltInAuthority.name}.',
    )
