"""Bodies of which the service would make much more than was sent: points, assignments, drawings."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx
import pytest

from tests.attacks.conftest import Target
from tests.attacks.files import new_request
from tests.scenarios.memory import Peaks, watched
from tests.scenarios.people import at, sign, signer

pytestmark = pytest.mark.thorough

MIB = 1024 * 1024
AT_ONCE = 16
TOO_LARGE, INVALID = (413, "payload_too_large"), (422, "validation_error")
BUSY = (503, "unavailable")


@pytest.fixture(scope="module")
def target(new_target: Callable[..., Target]) -> Target:
    """One of its own, whose web process has needed no memory for anything else."""
    return new_target()


@pytest.fixture(scope="module")
def peaks(target: Target) -> Iterator[Peaks]:
    """What the web process has at most while these attacks run; at rest it has about 100 MiB."""
    new_request(target.backend())
    assert target.process
    with watched(target.process.pid) as seen:
        yield seen


def signature(strokes: str) -> bytes:
    return b'{"code":"000000","consent":true,"signature":{"type":"drawn","strokes":%b}}' % strokes.encode()


def repeated(part: str, size: int) -> str:
    """An array of that part, of about so many bytes."""
    return "[" + ",".join([part] * ((size - 100) // (len(part) + 1))) + "]"


def refusals(send: Callable[[], httpx.Response], times: int = AT_ONCE) -> set[tuple[int, str]]:
    """What all of them are told who send this at once."""
    with ThreadPoolExecutor(times) as pool:
        answers = [future.result() for future in [pool.submit(send) for _ in range(times)]]
    return {(answer.status_code, answer.json()["error"]["code"]) for answer in answers}


def post(url: str, content: bytes, *, chunked: bool) -> httpx.Response:
    body = iter([content]) if chunked else content
    return httpx.post(url, content=body, headers={"Content-Type": "application/json"}, timeout=60)


@pytest.mark.parametrize("chunked", [False, True], ids=["whole", "chunked"])
def test_points_at_once(target: Target, peaks: Peaks, *, chunked: bool) -> None:
    url = new_request(target.backend())["signers"][0]["signing_url"] + "/signature"
    cases = [
        (INVALID, AT_ONCE, "[9,9]", MIB // 2),
        (INVALID, AT_ONCE, '{"a":1}', MIB // 2),
        (TOO_LARGE, 4, "[9,9]", 4 * MIB),
    ]
    for told, times, part, size in cases:
        content = signature(f"[{repeated(part, size - 100)}]")
        assert size - 300 < len(content) <= size
        answers = refusals(partial(post, url, content, chunked=chunked), times)
        assert told in answers and answers <= {told, BUSY}  # one tenant has half of the places, and waits two seconds
    peaks.look()
    assert peaks.web < 256 * MIB


@pytest.mark.parametrize("part", ["{}", '{"a":1}'])
def test_assignments_at_once(target: Target, peaks: Peaks, part: str) -> None:
    backend = target.backend()
    request = {
        "mode": "parallel",
        "validity_days": 7,
        "signers": [signer("zoe")],
        "documents": [{"id": 1, "signers": 0}],
    }
    whole = json.dumps({"signature_request": request})
    content = whole.replace('"signers": 0', f'"signers": {repeated(part, 6 * MIB // 5)}').encode()
    headers = {"Content-Type": "application/json"}
    assert refusals(lambda: backend.call("POST", "signature_requests", content=content, headers=headers)) == {INVALID}
    peaks.look()
    assert peaks.web < 256 * MIB


@pytest.mark.parametrize(
    "strokes",
    [
        [[[number % 2, (number * 7919 % 20_000) / 20_000] for number in range(20_000)]],
        [[[0.1, 0.5], [0.9, 0.5]]]  # taps alone are no signature
        + [[[number * 7919 % 20_000 / 20_000, number * 104729 % 20_000 / 20_000]] for number in range(19_998)],
    ],
    ids=["zigzag", "line_and_dots"],
)
def test_twenty_thousand_points_on_three_stamps(target: Target, strokes: list[Any]) -> None:
    sizes = [{"width": 80, "height": 30}, {"width": 200, "height": 80}, {"width": 400, "height": 160}]
    stamps = [at(1, 20, 20 + 200 * index, **size) for index, size in enumerate(sizes)]
    backend, signed = target.backend(), []
    for mark in ({"type": "typed"}, {"type": "drawn", "strokes": strokes}):
        request = new_request(target.backend(), stamps=stamps)
        answer = sign(request["signers"][0]["signing_url"], signature=mark)
        assert answer.status_code == 200, answer.text
        [urls] = backend.finalized(request["id"])["download_urls"]
        signed.append(httpx.get(urls["signed_url"], timeout=30).content)
    typed, drawn = map(len, signed)
    assert drawn - typed < 200_000
