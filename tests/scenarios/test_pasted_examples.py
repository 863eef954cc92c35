"""What can be pasted from ``/docs`` and from the READMEs works against a real service."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from paraph.reference.operations import OPERATION_SAMPLES, SIGNER_SAMPLES
from tests.cli.service import Service
from tests.clients import typescript
from tests.contract import contract
from tests.independent import need
from tests.reference.page import Element, parse, snippet
from tests.scenarios.people import Backend, at, sign

# Each can be done once to a request, whose signer has to be invited.
ACTS = ("endSignatureRequest", "remindSigner", "correctSigner", "extendSignatureRequest")
SANDBOX_ACTS = ("sandboxSign", "sandboxExpire", "sandboxDecline")
PRODUCTION_ONLY = ("createDraft", "readDraft")
LATER = {"sign", "readProgress", "downloadCopy", "downloadProof"}  # at the end of a signer's way
FINISHED = "readEvidence"  # needs a request that is finalized
APART = {*ACTS, *SANDBOX_ACTS, *PRODUCTION_ONLY, FINISHED}  # each needs a request of its own, or another key
CLIENT_README = Path(__file__).parents[2] / "clients" / "python" / "README.md"


class Reader:
    """Somebody with a key, a request and the page before them."""

    def __init__(
        self, service: Service, page: Element, environment: str = "sandbox", *, with_field: bool = False, **options: Any
    ) -> None:
        self.service, self.page, self.key = service, page, service.new_key("pro", environment)
        self.backend = Backend(service.base_url, self.key)
        self.uploaded = contract()
        self.document = self.backend.upload(self.uploaded, "lease.pdf")
        wanted = self.backend.wanted("tenant", document=self.document, stamps=[at()], **options)
        if with_field:
            field = {"name": "IBAN", "type": "text", "placement": at(1, 72, 400, width=300)}
            wanted["documents"][0]["signers"][0]["fields"] = [field]
        self.request = self.backend.create(**wanted)

    def new_template(self) -> str:
        """Return the id of a new template with the roles that the page fills."""
        roles = ("Landlord", "Tenant")
        document = {"id": self.document, "roles": [{"role": role, "stamps": [at()]} for role in roles]}
        named = {"name": "Lease", "mode": "parallel", "validity_days": 1, "roles": [{"name": role} for role in roles]}
        answer = self.backend.call("POST", "templates", json={"template": named | {"documents": [document]}})
        return str(answer.json()["id"])

    def about_another(self) -> "Reader":
        """Return a reader of the same page with a request of their own, whose signer has been invited."""
        asked = {"send_email": True, "identity_declaration_accepted": True}
        another = Reader(self.service, self.page, "sandbox", **asked)
        another.backend.told(another.request["id"], "signer.notified")
        return another

    def code(self, name: str) -> str:
        """Return the snippet about the reader's own document and request, or about a new template or draft."""
        text = snippet(self.page, name)
        signer_id = self.request["signers"][0]["id"]
        own = {"35": str(self.document), "141": str(signer_id), "71": str(self.request["id"])}
        if "emplate" in name:
            own["12"] = self.new_template()
        if "readDraft" in name:
            draft = self.backend.call("POST", "drafts", json={"signature_request": {}})
            own["23"] = str(draft.json()["id"])
        # In one pass, as one of the reader's own ids may be one that the page shows for something else.
        return re.sub(r"\b\d+\b", lambda shown: own.get(shown[0], shown[0]), text).replace("KEY=…", f"KEY={self.key}")


@pytest.fixture(scope="module")
def reader(service: Service) -> Reader:
    return Reader(service, parse(httpx.get(f"{service.base_url}/docs/all").text))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("lease.pdf", "contract.pdf"):
        (tmp_path / name).write_bytes(contract())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(reader: Reader, language: str, *samples: str, **environment: str) -> str:
    """Run the sample that sets up and then these, as one program; return what they print."""
    code = [reader.code(each) for each in (f"setup-{language}", *samples)]
    if language == "curl":
        return pasted(*(f"export {name}={value}" for name, value in environment.items()), *code)
    if language == "typescript":
        apart = (f"{{ {each} }}" for each in code[1:])  # in blocks, as two samples may use the same name
        return typescript.run_module("\n".join([code[0], *apart]), KEY=reader.key, **environment)
    names, printed = dict[str, Any](), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        patch.setitem(os.environ, "KEY", reader.key)
        exec(code[0], names)
        with names["paraph"]:
            for sample in code[1:]:
                exec(sample, names)
    return printed.getvalue()


def pasted(*scripts: str) -> str:
    need("curl", "curl")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(scripts)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def production_reader(service: Service, reader: Reader) -> Reader:
    return Reader(service, reader.page, "production")


@pytest.fixture(scope="module")
def finished_reader(service: Service, reader: Reader) -> Reader:
    finished = Reader(service, reader.page)
    sign(finished.request["signers"][0]["signing_url"])
    finished.backend.finalized(finished.request["id"])
    return finished


@pytest.mark.parametrize("name", sorted(OPERATION_SAMPLES.keys() - {*SANDBOX_ACTS, FINISHED}))
def test_curl(reader: Reader, production_reader: Reader, folder: Path, name: str) -> None:
    about = reader.about_another() if name in ACTS else production_reader if name in PRODUCTION_ONLY else reader
    answer = run(about, "curl", f"curl-{name}")
    assert answer == "" if name == "deleteTemplate" else answer.startswith("{") and '"error"' not in answer, answer


def test_python(reader: Reader, folder: Path) -> None:
    run(reader, "python", *(f"python-{name}" for name in OPERATION_SAMPLES if name not in APART), "pages-python")
    assert (folder / "uploaded.pdf").read_bytes() == reader.uploaded
    for name in ACTS:
        run(reader.about_another(), "python", f"python-{name}")


@pytest.mark.parametrize("language", ["curl", "python", pytest.param("typescript", marks=pytest.mark.thorough)])
def test_all_evidence_in_one_file(finished_reader: Reader, folder: Path, language: str) -> None:
    told = run(finished_reader, language, f"{language}-{FINISHED}")
    assert "/files/bundles/" in told if language == "curl" else not told


@pytest.mark.parametrize(
    ("language", "nothing"), [("python", "None"), pytest.param("typescript", "null", marks=pytest.mark.thorough)]
)
def test_drafts(production_reader: Reader, language: str, nothing: str) -> None:
    told = run(production_reader, language, *(f"{language}-{name}" for name in PRODUCTION_ONLY))
    assert "/review\n" in told and told.endswith(f"open {nothing}\n")


@pytest.mark.thorough
def test_typescript(reader: Reader, folder: Path) -> None:
    apart = [f"typescript-{name}" for name in OPERATION_SAMPLES if name not in APART]
    told = run(reader, "typescript", *apart, "pages-typescript")
    assert "/sign/" in told and "signature_request.created" in told and told.rstrip().endswith("sandbox")
    assert (folder / "uploaded.pdf").read_bytes() == reader.uploaded
    assert run(reader, "typescript", "retry-typescript").strip().isdecimal()
    for name in ACTS:
        assert run(reader.about_another(), "typescript", f"typescript-{name}")


@pytest.fixture
def others(service: Service, reader: Reader) -> Callable[[], Reader]:
    """Return a function that makes readers, each with a request of their own."""
    return lambda: Reader(service, reader.page)


@pytest.mark.thorough
@pytest.mark.parametrize("language", ["curl", "python", "typescript"])
def test_sandbox_acts(others: Callable[[], Reader], folder: Path, language: str) -> None:
    told = [run(others(), language, f"{language}-{name}") for name in SANDBOX_ACTS]
    signed, expired = (each.split()[0] if language != "curl" else json.loads(each)["status"] for each in told[:2])
    assert (signed, expired) == ("completed", "expired") and "decline_not_allowed" in told[2]


@pytest.mark.parametrize("language", ["curl", "python", pytest.param("typescript", marks=pytest.mark.thorough)])
def test_the_guides(others: Callable[[], Reader], folder: Path, language: str) -> None:
    """A test signs and hears of it; a program that catches up then reads every event once, and none the next time."""
    one = others()
    assert run(one, language, f"test-{language}") == "%PDF-\n" or language != "typescript"
    first, second = (run(one, language, f"catch-up-{language}") for _ in range(2))
    assert re.findall(r"signer\.signed|request\.completed", first)[-2:] == ["signer.signed", "request.completed"]
    assert '"data":[]' in second if language == "curl" else not second


@pytest.mark.parametrize("language", ["curl", "python", pytest.param("typescript", marks=pytest.mark.thorough)])
def test_a_signature_with_a_field(service: Service, reader: Reader, language: str) -> None:
    told = run(Reader(service, reader.page, with_field=True), language, f"test-fields-{language}")
    assert "IBAN" in told and "DE02 1203 0000 0000 2020 51" in told


def test_a_repeated_call(reader: Reader, folder: Path) -> None:
    """A call that is repeated with its key is answered with the document of the first call."""
    once, call = reader.code("retry-curl").split("\n", 1)
    told = pasted(reader.code("setup-curl"), once, call, "echo", call).splitlines()
    assert len(told) == 2 and len({json.loads(answer)["id"] for answer in told}) == 1
    run(reader, "python", "retry-python")


@pytest.mark.thorough
def test_the_signer_with_curl_and_typescript(others: Callable[[], Reader], folder: Path) -> None:
    """Every endpoint is called, in an order that works; the copy is there once everything is sealed."""
    one = others()
    url = one.request["signers"][0]["signing_url"]
    assert '"error"' not in run(
        one, "curl", *(f"curl-{name}" for name in SIGNER_SAMPLES if name not in LATER), SIGNING_URL=url
    )
    assert (folder / "page.webp").read_bytes()[8:12] == b"WEBP" and "<svg" in (folder / "stamp.svg").read_text()
    assert (folder / "unsigned.pdf").read_bytes() == one.uploaded

    def by_typescript(name: str, **more: str) -> str:
        return typescript.run_module(one.code(f"typescript-{name}"), KEY=one.key, SIGNING_URL=url, **more)

    assert by_typescript("drawStamp") and by_typescript("readPageText")
    [code] = re.findall(r"sandbox_code: '(\d{6})'", by_typescript("sendCode"))
    ticket = by_typescript("sign", CODE=code).split()[-1]
    assert "progress" in by_typescript("readProgress")
    one.backend.finalized(one.request["id"])
    later = [f"curl-{name}" for name in ("readProgress", "downloadCopy", "downloadProof")]
    assert '"ready"' in run(one, "curl", *later, TICKET=ticket, SIGNING_URL=url)
    assert (folder / "signed.pdf").read_bytes().startswith(one.uploaded)
    assert (folder / "proof.pdf").read_bytes().startswith(b"%PDF-")
    assert all("curl" in each for each in SIGNER_SAMPLES.values())


def test_pages_and_signing_with_curl(reader: Reader, folder: Path) -> None:
    assert '"pagination"' in run(reader, "curl", "pages-curl")
    [person] = reader.request["signers"]
    assert '"signed"' in run(reader, "curl", "sign-curl", SIGNING_URL=person["signing_url"])


def test_the_readme_of_the_client(
    service: Service, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key = service.new_key("free", "sandbox")
    blocks = re.findall(r"```python\n(.*?)```", CLIENT_README.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    for number, block in enumerate(blocks):
        code = block.replace("https://sign.example.com", service.base_url).replace('"…"', f'"{key}"')
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


PROJECT = Path(__file__).parents[2]


@pytest.mark.thorough
def test_the_walk_through_with_curl(service: Service, tmp_path: Path) -> None:
    need("curl", "curl")
    readme = (PROJECT / "README.md").read_text()
    walk = readme[readme.index("## Walk through it with curl") : readme.index("## Where to go from here")]
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", walk, flags=re.MULTILINE)
    script = "\n".join(block for block in blocks if "make serve" not in block)
    script = script.replace("http://127.0.0.1:8000", service.base_url)
    (tmp_path / "demo-output").mkdir()
    uploaded = contract()
    (tmp_path / "demo-output" / "uploaded.pdf").write_bytes(uploaded)
    (tmp_path / ".venv").symlink_to(PROJECT / ".venv")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PARAPH_DATA_DIR": str(service.data_dir)},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Everything matches." in done.stdout
    assert "signature_request.certificate_issued" in done.stdout
    assert (tmp_path / "signed.pdf").read_bytes().startswith(uploaded)
    assert (tmp_path / "proof.pdf").read_bytes().startswith(b"%PDF-")
