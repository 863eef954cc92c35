"""Two last signers at the same instant complete a request once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import httpx

from tests.contract import contract
from tests.scenarios.conftest import Service
from tests.scenarios.people import Backend, at, code_for, sign, signer

_ROUNDS = 8


def test_exactly_one_completes(service: Service) -> None:
    backend = Backend(service.url, service.new_key("pro", "sandbox"))
    document = backend.upload(contract())
    for _ in range(_ROUNDS):
        request = backend.create(
            mode="parallel",
            validity_days=1,
            signers=[signer("a"), signer("b")],
            documents=[
                {
                    "id": document,
                    "signers": [
                        {"signer_ref": "a", "stamps": [at(x=40)]},
                        {"signer_ref": "b", "stamps": [at(x=300)]},
                    ],
                }
            ],
        )
        urls = [person["signing_url"] for person in request["signers"]]
        codes = [code_for(url) for url in urls]
        barrier = Barrier(2)

        def sign_together(url: str, code: str, barrier: Barrier = barrier) -> httpx.Response:
            barrier.wait()
            return sign(url, code)

        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(sign_together, urls, codes))
        assert [answer.status_code for answer in answers] == [200, 200]
        statuses = sorted(answer.json()["signature_request"]["status"] for answer in answers)
        assert statuses == ["completed", "pending"]
        backend.finalized(request["id"])
        told = [entry["event_type"] for entry in backend.journal(request["id"])]
        assert told.count("request.completed") == 1
        assert told.count("signature_request.pades_signed") == 1
        assert told.count("signature_request.certificate_issued") == 1
