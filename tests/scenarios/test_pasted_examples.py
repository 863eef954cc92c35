"""What can be pasted from ``/docs`` and from the Python client's README works against a real service."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from paraph.reference.operations import OPERATION_SAMPLES, SIGNER_SAMPLES
from tests.clients import typescript
from tests.contract import contract
from tests.independent import need
from tests.reference.page import Element, parse, snippet
from tests.scenarios.conftest import Service
from tests.scenarios.people import Backend, at, sign, signer

ACTS = ("endSignatureRequest", "remindSigner")  # what can be done once to a request, whose signer was invited
SANDBOX_ACTS = ("sandboxSign", "sandboxExpire", "sandboxDecline")
PRODUCTION_ONLY = ("createDraft", "readDraft")
APART = {*ACTS, *SANDBOX_ACTS, *PRODUCTION_ONLY}  # each wants a request of its own, or another key
README = Path(__file__).parents[2] / "clients" / "python" / "README.md"


class Reader:
    """Somebody with a key, a request and the page before them."""

    def __init__(
        self, service: Service, page: Element, environment: str = "sandbox", *, with_field: bool = False, **options: Any
    ) -> None:
        self.service, self.page, self.key = service, page, service.new_key("pro", environment)
        self.backend = Backend(service.url, self.key)
        self.uploaded = contract()
        self.document = self.backend.upload(self.uploaded, "lease.pdf")
        people = [signer("tenant", order=1)]
        placed: list[dict[str, Any]] = [{"signer_ref": "tenant", "stamps": [at()]}]
        if with_field:
            place = {"type": "coordinates", "value": {"page_number": 1, "x": 72, "y": 400, "width": 300}}
            placed[0]["fields"] = [{"name": "IBAN", "type": "text", "placement": place}]
        self.request = self.backend.create(
            mode="parallel",
            validity_days=1,
            signers=people,
            documents=[{"id": self.document, "signers": placed}],
            **options,
        )

    def new_template(self) -> str:
        """With the roles that are filled on the page."""
        roles = ("Landlord", "Tenant")
        document = {"id": self.document, "roles": [{"role": role, "stamps": [at()]} for role in roles]}
        named = {"name": "Lease", "mode": "parallel", "validity_days": 1, "roles": [{"name": role} for role in roles]}
        answer = self.backend.call("POST", "templates", json={"template": named | {"documents": [document]}})
        return str(answer.json()["id"])

    def about_another(self) -> "Reader":
        """The same page, about a request of its own, whose signer has been invited."""
        asked = {"send_email": True, "identity_declaration_accepted": True}
        another = Reader(self.service, self.page, "sandbox", **asked)
        another.backend.told(another.request["id"], "signer.notified")
        return another

    def code(self, name: str) -> str:
        """The snippet, about the reader's own document and request, a template that is there once, and a draft."""
        text = snippet(self.page, name)
        signer_id = self.request["signers"][0]["id"]
        own = {"35": str(self.document), "141": str(signer_id), "71": str(self.request["id"])}
        if "emplate" in name:
            own["12"] = self.new_template()
        if "readDraft" in name:
            draft = self.backend.call("POST", "drafts", json={"signature_request": {}})
            own["23"] = str(draft.json()["id"])
        # In one pass: an id of its own may be one that the page shows for something else.
        return re.sub(r"\b\d+\b", lambda shown: own.get(shown[0], shown[0]), text).replace("KEY=…", f"KEY={self.key}")


@pytest.fixture(scope="module")
def reader(service: Service) -> Reader:
    return Reader(service, parse(httpx.get(f"{service.url}/docs/all").text))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("lease.pdf", "contract.pdf"):
        (tmp_path / name).write_bytes(contract())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pasted(*scripts: str) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(scripts)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def production_reader(service: Service, reader: Reader) -> Reader:
    return Reader(service, reader.page, "production")


@pytest.mark.parametrize("name", sorted(OPERATION_SAMPLES.keys() - SANDBOX_ACTS))
def test_curl(reader: Reader, production_reader: Reader, folder: Path, name: str) -> None:
    need("curl", "curl")
    about = reader.about_another() if name in ACTS else production_reader if name in PRODUCTION_ONLY else reader
    answer = pasted(about.code("setup-curl"), about.code(f"curl-{name}"))
    assert answer == "" if name == "deleteTemplate" else answer.startswith("{") and '"error"' not in answer, answer


def test_python(reader: Reader, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_in_python(
        reader, monkeypatch, *(f"python-{name}" for name in OPERATION_SAMPLES if name not in APART), "pages-python"
    )
    assert (folder / "uploaded.pdf").read_bytes() == reader.uploaded
    for name in ACTS:
        run_in_python(reader.about_another(), monkeypatch, f"python-{name}")


def test_drafts_in_python(
    production_reader: Reader, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_in_python(production_reader, monkeypatch, *(f"python-{name}" for name in PRODUCTION_ONLY))
    told = capsys.readouterr().out
    assert "/review\n" in told and told.endswith("open None\n")


def in_typescript(reader: Reader, *scripts: str, **environment: str) -> str:
    return typescript.run_module("\n".join(scripts), KEY=reader.key, **environment)


@pytest.mark.thorough
def test_typescript(reader: Reader, folder: Path) -> None:
    apart = [f"{{ {reader.code(f'typescript-{name}')} }}" for name in OPERATION_SAMPLES if name not in APART]
    told = in_typescript(reader, reader.code("setup-typescript"), *apart, reader.code("pages-typescript"))
    assert "/sign/" in told and "signature_request.created" in told and told.rstrip().endswith("sandbox")
    assert (folder / "uploaded.pdf").read_bytes() == reader.uploaded
    for name in ACTS:
        about = reader.about_another()
        assert in_typescript(about, about.code("setup-typescript"), about.code(f"typescript-{name}"))


@pytest.fixture
def others(service: Service, reader: Reader) -> Callable[[], Reader]:
    """People with a request of their own."""
    return lambda: Reader(service, reader.page)


@pytest.mark.thorough
def test_acts_with_curl(others: Callable[[], Reader], folder: Path) -> None:
    need("curl", "curl")
    acts = ((others(), name) for name in SANDBOX_ACTS)
    told = [pasted(each.code("setup-curl"), each.code(f"curl-{name}")) for each, name in acts]
    assert '"status":"completed"' in told[0] and '"status":"expired"' in told[1] and "decline_not_allowed" in told[2]


@pytest.mark.thorough
def test_acts_with_typescript(others: Callable[[], Reader], folder: Path) -> None:
    told = [
        in_typescript(each, each.code("setup-typescript"), each.code(f"typescript-{name}"))
        for name in SANDBOX_ACTS
        for each in [others()]
    ]
    assert told[0].split()[0] == "completed" and told[1].split()[0] == "expired" and "decline_not_allowed" in told[2]


@pytest.mark.thorough
def test_acts_with_python(
    others: Callable[[], Reader], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in SANDBOX_ACTS:
        run_in_python(others(), monkeypatch, f"python-{name}")
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("completed") and told[1].startswith("expired") and told[2] == "decline_not_allowed"


def run_in_python(reader: Reader, monkeypatch: pytest.MonkeyPatch, *samples: str) -> None:
    monkeypatch.setitem(os.environ, "KEY", reader.key)
    names: dict[str, Any] = {}
    exec(reader.code("setup-python"), names)
    with names["paraph"]:
        for sample in samples:
            exec(reader.code(sample), names)


def test_the_guides_with_curl(others: Callable[[], Reader], folder: Path) -> None:
    """A test signs and hears of it; who catches up then reads all of it once, and nothing the next time."""
    need("curl", "curl")
    one = others()
    pasted(one.code("setup-curl"), one.code("test-curl"))
    first, second = (pasted(one.code("setup-curl"), one.code("catch-up-curl")) for _ in range(2))
    assert "signer.signed" in first and "request.completed" in first and '"data":[]' in second


@pytest.mark.thorough
def test_the_guides_with_typescript(others: Callable[[], Reader], folder: Path) -> None:
    one = others()
    assert in_typescript(one, one.code("setup-typescript"), one.code("test-typescript")) == "%PDF-\n"
    first, second = (
        in_typescript(one, one.code("setup-typescript"), one.code("catch-up-typescript")) for _ in range(2)
    )
    assert [line.split()[1] for line in first.splitlines()] == ["signer.signed", "request.completed"] and not second


def test_the_guides_with_python(
    others: Callable[[], Reader], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = others()
    run_in_python(one, monkeypatch, "test-python", "catch-up-python", "catch-up-python")
    told = [line.split()[1] for line in capsys.readouterr().out.splitlines()]
    assert told == ["signer.signed", "request.completed"]


@pytest.mark.parametrize("language", ["curl", "python", pytest.param("typescript", marks=pytest.mark.thorough)])
def test_a_signature_with_a_field(
    service: Service, reader: Reader, language: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Reader(service, reader.page, with_field=True)
    code = one.code(f"test-fields-{language}")
    if language == "python":
        run_in_python(one, monkeypatch, "test-fields-python")
        told = capsys.readouterr().out
    else:
        setup = one.code(f"setup-{language}")
        told = pasted(setup, code) if language == "curl" else in_typescript(one, setup, code)
    assert "IBAN" in told and "DE02 1203 0000 0000 2020 51" in told


def test_a_repeated_call(reader: Reader, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same key, it is answered with the document of the first."""
    need("curl", "curl")
    once, call = reader.code("retry-curl").split("\n", 1)
    told = pasted(reader.code("setup-curl"), once, call, "echo", call).splitlines()
    assert len(told) == 2 and len({json.loads(answer)["id"] for answer in told}) == 1
    run_in_python(reader, monkeypatch, "retry-python")
    assert in_typescript(reader, reader.code("setup-typescript"), reader.code("retry-typescript")).strip().isdecimal()


def test_drafts_in_typescript(production_reader: Reader) -> None:
    drafts = [f"{{ {production_reader.code(f'typescript-{name}')} }}" for name in PRODUCTION_ONLY]
    told = in_typescript(production_reader, production_reader.code("setup-typescript"), *drafts)
    assert "/review\n" in told and told.endswith("open null\n")


@pytest.mark.thorough
def test_the_signer_with_curl_and_typescript(service: Service, reader: Reader, folder: Path) -> None:
    """Each endpoint in an order in which it can be used; the copy is there once all is sealed."""
    need("curl", "curl")
    signer_reader = Reader(service, reader.page)
    [person] = signer_reader.request["signers"]
    at_page = {"SIGNING_URL": person["signing_url"]}
    curl = [signer_reader.code(f"curl-{name}") for name in SIGNER_SAMPLES if name not in LATER]
    assert '"error"' not in pasted("export SIGNING_URL=" + at_page["SIGNING_URL"], *curl)
    assert (folder / "page.webp").read_bytes()[8:12] == b"WEBP" and "<svg" in (folder / "stamp.svg").read_text()
    assert (folder / "unsigned.pdf").read_bytes() == signer_reader.uploaded
    for name in ("drawStamp", "readPageText"):
        assert in_typescript(signer_reader, signer_reader.code(f"typescript-{name}"), **at_page)
    code = re.findall(
        r"sandbox_code: '(\d{6})'", in_typescript(signer_reader, signer_reader.code("typescript-sendCode"), **at_page)
    )
    told = in_typescript(signer_reader, signer_reader.code("typescript-sign"), **at_page, CODE=code[0])
    ticket = told.split()[-1]
    assert "progress" in in_typescript(signer_reader, signer_reader.code("typescript-readProgress"), **at_page)
    signer_reader.backend.finalized(signer_reader.request["id"])
    later = [signer_reader.code(f"curl-{name}") for name in ("readProgress", "downloadCopy", "downloadProof")]
    assert '"ready"' in pasted(f"export TICKET={ticket} SIGNING_URL={at_page['SIGNING_URL']}", *later)
    assert (folder / "signed.pdf").read_bytes().startswith(signer_reader.uploaded)
    assert (folder / "proof.pdf").read_bytes().startswith(b"%PDF-")
    assert all("curl" in each for each in SIGNER_SAMPLES.values())


LATER = {"sign", "readProgress", "downloadCopy", "downloadProof"}


def test_pages_and_signing_with_curl(reader: Reader, folder: Path) -> None:
    need("curl", "curl")
    assert '"pagination"' in pasted(reader.code("setup-curl"), reader.code("pages-curl"))
    [person] = reader.request["signers"]
    assert '"signed"' in pasted(f"SIGNING_URL={person['signing_url']}", reader.code("sign-curl"))


def test_the_readme_of_the_client(
    service: Service, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key = service.new_key("free", "sandbox")
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    for number, block in enumerate(blocks):
        code = block.replace("https://sign.example.com", service.url).replace('"…"', f'"{key}"')
        exec(code.replace("time.sleep(15)", "time.sleep(0.2)"), names)
        if number == 0:
            for person in names["request"].signers:
                assert sign(person.signing_url).status_code == 200
    names["paraph"].close()
    told = capsys.readouterr().out
    assert "404 not_found There is no such resource." in told
    assert re.search(rf"^\[{names['request'].id}\b", told, re.MULTILINE) and "signer.signed" in told
    assert (folder / "proof.pdf").read_bytes().startswith(b"%PDF-")
    assert names["receive"](b"{}", "sha256=", "secret") == 401
