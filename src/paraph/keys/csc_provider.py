"""Calls to a provider of remote seals by the API of the Cloud Signature Consortium (CSC API 1.0.4.0 and 2.0), with an
access token from OAuth 2.0 client credentials (RFC 6749 §4.4)."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx
from pydantic import BaseModel, Field, ValidationError, model_validator

from paraph.kernel.errors import DomainError
from paraph.keys.signing_key import CSC_PREFIX, CscClient

_SECONDS = 20.0  # for all attempts of an operation
_ANSWER_SECONDS, _CONNECT_SECONDS = 8.0, 2.0  # a qualified device signs slower than a cloud
_PAUSES = (0.2, 1.0)  # seconds between the three attempts
_RENEWED_BEFORE = 30  # seconds before a token ends
_LARGEST = 256 * 1024  # bytes of an answer
_LONGEST_REASON = 300
_PASSING = {"server_error", "temporarily_unavailable"}
_Shape = TypeVar("_Shape", bound="Answer")
_Returned = TypeVar("_Returned")


class Call(Protocol):
    """A function that calls a method of the API, such as ``credentials/info``, with a body and returns the answer."""

    def __call__(self, shape: type[_Shape], method: str, body: dict[str, Any]) -> _Shape: ...


class ProviderRefused(DomainError):
    """The provider does not do what it is asked, and waiting does not help. ``error``: its name for the reason;
    ``status``: that of its answer, 0 where the answer itself is not what it should be."""

    def __init__(self, who: str, why: str, error: str = "", status: int = 0) -> None:
        super().__init__("configuration", f"{who} cannot be used: {why}.")
        self.error, self.status = error, status


class Answer(BaseModel):
    """What a method answers; ``null`` stands for what is absent (CSC API 2.0 §7.1)."""

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, given: Any) -> Any:
        return {name: value for name, value in given.items() if value is not None} if isinstance(given, dict) else given


class _Info(Answer):
    name: str = ""
    ways: list[str] = Field(alias="authType")
    oauth2: str = ""
    issuer: str = Field("", alias="oauth2Issuer")


class _Metadata(Answer):
    issuer: str
    token_endpoint: str


class _Token(Answer):
    access_token: str = Field(min_length=1)
    expires_in: float = 3600


class _Error(Answer):
    error: str = ""
    error_description: str = ""


class Provider:
    """The API at ``csc+https://HOST/csc/v2?credential=ID``. Redirects are not followed; secrets go only to HTTPS
    addresses. ``version``: ``v1`` or ``v2``; ``name``: what the provider calls its service, once it has been asked."""

    def __init__(self, address: str, client: CscClient) -> None:
        """Raise ``DomainError("configuration", …)`` for an address of another form, with a sentence that does not quote
        it."""
        parts = urlsplit(address if _is_safe(address.removeprefix(CSC_PREFIX)) else "")
        path, query = parts.path.rstrip("/"), parse_qs(parts.query)
        self._base, self.version = f"https://{parts.netloc}{path}", path.rpartition("/")[2]
        self.credential = "".join(query.pop("credential", []))
        if not self.credential or query or self.version not in ("v1", "v2"):
            form = "csc+https://HOST/csc/v2?credential=ID, or with v1 in the path for version 1.0.4 of the API"
            raise DomainError("configuration", f"PARAPH_SEALING_KEY: the address of a CSC credential must be {form}.")
        self._who = f"The CSC credential {self.credential} at {parts.netloc}"
        self._client, self._tls, self.name = client, httpx.create_ssl_context(), ""
        self._token, self._token_end, self._token_address = "", 0.0, ""

    def attempt(self, work: Callable[[Call], _Returned]) -> _Returned:
        """Return what ``work`` returns. It is attempted up to three times where the provider or the network fails.
        Raise :class:`ProviderRefused`, and ``DomainError("unavailable", …)`` after the last attempt."""
        end = time.monotonic() + _SECONDS
        with httpx.Client(verify=self._tls, follow_redirects=False) as http:
            call = partial(self._call, _Exchange(self._who, http, end))
            for pause in _PAUSES:
                try:
                    return work(call)
                except DomainError as error:
                    if error.code != "unavailable" or time.monotonic() + pause >= end:
                        raise
                    time.sleep(pause)
            return work(call)

    def refused(self, why: str) -> ProviderRefused:
        """Return the refusal. ``why``: the end of a sentence about the credential."""
        return ProviderRefused(self._who, why)

    def _call(self, exchange: "_Exchange", shape: type[_Shape], method: str, body: dict[str, Any]) -> _Shape:
        asked = partial(exchange, shape, "POST", f"{self._base}/{method}", json=body)
        if not self._token_address:
            self._token_address = self._find_token_address(exchange)
        try:
            return asked(headers=self._authorization(exchange))
        except ProviderRefused as refusal:
            if refusal.status != 401 or not self._token:
                raise
        self._token_end = 0.0  # the token ended before its time
        return asked(headers=self._authorization(exchange))

    def _authorization(self, exchange: "_Exchange") -> dict[str, str]:
        if not self._client.id:
            return {}
        if time.monotonic() >= self._token_end:
            form = {"grant_type": "client_credentials", "scope": "service"}
            form |= {"client_id": self._client.id, "client_secret": self._client.secret}
            given = exchange(_Token, "POST", self._token_address, data=form)
            self._token, self._token_end = given.access_token, time.monotonic() + given.expires_in - _RENEWED_BEFORE
        return {"Authorization": f"Bearer {self._token}"}

    def _find_token_address(self, exchange: "_Exchange") -> str:
        """Return the address for access tokens that the provider's ``info`` names; the API's own address for a client
        without an id, which the provider knows by other means."""
        info = exchange(_Info, "POST", f"{self._base}/info", json={})
        self.name = _shown(info.name)
        ways = {"oauth2client"} if self._client.id else {"external", "TLS"}
        if ways.isdisjoint(info.ways):
            wanted = "takes no OAuth 2.0 client credentials" if self._client.id else "wants PARAPH_CSC_CLIENT_ID"
            raise self.refused(f"its provider {wanted} (authType {', '.join(info.ways)})")
        if not self._client.id:
            return self._base
        address = f"{info.oauth2.rstrip('/').removesuffix('/oauth2')}/oauth2/token"
        if not info.oauth2 and _is_safe(info.issuer):
            parts = urlsplit(info.issuer)
            known = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{parts.path.rstrip('/')}"
            metadata = exchange(_Metadata, "GET", known)
            address = metadata.token_endpoint if metadata.issuer == info.issuer else ""  # RFC 8414 §3.3
        if not _is_safe(address):
            raise self.refused("its provider names no address of HTTPS for access tokens")
        return address


@dataclass(frozen=True)
class _Exchange:
    """The HTTP exchanges of one operation. ``end``: when all of them must have ended, by the monotonic clock."""

    who: str
    http: httpx.Client
    end: float

    def __call__(self, shape: type[_Shape], verb: str, url: str, **content: Any) -> _Shape:
        """Return the answer. Raise :class:`ProviderRefused`; for passing faults, ``DomainError("unavailable", …)``."""
        seconds = max(min(_ANSWER_SECONDS, self.end - time.monotonic()), 0.001)
        until = time.monotonic() + seconds
        limits = httpx.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds))
        try:
            with self.http.stream(verb, url, timeout=limits, **content) as response:
                body = b""
                for part in response.iter_bytes():
                    body += part
                    if len(body) > _LARGEST or time.monotonic() > until:
                        raise self._failed("its answer is too large, or too slow")
        except httpx.TimeoutException as error:
            raise self._failed(f"no answer within {seconds:.1f} s") from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise self._failed(f"it cannot be reached ({_shown(str(error)) or type(error).__name__})") from error
        if response.status_code != 200:
            raise self._refusal(response.status_code, body)
        try:
            return shape.model_validate_json(body)
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or url
            raise ProviderRefused(self.who, f"what it answers cannot be used: {place}: {first['msg']}") from error

    def _refusal(self, status: int, body: bytes) -> DomainError:
        """Return the error for an answer that is not a success (CSC API 2.0 §10, RFC 6749 §5.2)."""
        try:
            said = _Error.model_validate_json(body)
        except ValidationError:
            said = _Error()
        description = f" ({_shown(said.error_description)})" if said.error_description else ""
        why = f"{_shown(said.error) or f'HTTP status {status}'}{description}"
        if status == 429 or status >= 500 or said.error in _PASSING:
            return self._failed(why)
        if status == 202:
            why = "its provider waits for somebody to approve each seal"
        return ProviderRefused(self.who, why, said.error, status)

    def _failed(self, why: str) -> DomainError:
        return DomainError("unavailable", f"{self.who} cannot be asked: {why}.")


def _is_safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return False


def _shown(text: str) -> str:
    """Return a text from outside as one short line."""
    return " ".join(text.split())[:_LONGEST_REASON].rstrip(".")
