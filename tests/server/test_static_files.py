"""Static files: hashed names, compressed contents, a year in every cache; and which answers of views are compressed."""

import gzip
import re
from pathlib import Path

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.storage import Storage

from paraph.server.static_files import StaticFiles, contents
from tests.factories import Scene, scene
from tests.production import Client
from tests.signer.calls import call, sign
from tests.tenancy import create_application

SOURCE = Path(__file__).parents[2] / "src/paraph"
FILES = {
    path.relative_to(folder).as_posix(): path for folder in SOURCE.glob("*/static") for path in folder.rglob("*.*")
}


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_served_under_its_hashed_name(name: str) -> None:
    address = staticfiles_storage.url(name)
    assert re.fullmatch(rf"/static/{name.partition('.')[0]}\.[0-9a-f]{{12}}\.\w+", address)
    plain = Client().get(address)
    assert "Content-Encoding" not in plain
    assert plain.content == FILES[name].read_bytes() or FILES[name].suffix in (".css", ".js")
    assert plain["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "Accept-Encoding" in plain["Vary"]
    packed = Client().get(address, headers={"Accept-Encoding": "br, gzip;q=0.8"})
    assert packed["Content-Encoding"] == "gzip" and gzip.decompress(packed.content) == plain.content
    assert packed["Content-Type"] == plain["Content-Type"]


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".js")])
def test_no_text_of_a_script_goes_over_several_lines(name: str) -> None:
    """A text over several lines would be served without its indents."""
    told = [line for line in FILES[name].read_text().split("\n") if not line.strip().startswith("//")]
    assert [line for line in told if line.count("`") % 2 or line.endswith("\\")] == []


def test_content_types_do_not_depend_on_the_machine_and_files_are_only_read() -> None:
    address = staticfiles_storage.url("signer/signer.css")
    assert (Client().head(address).status_code, Client().post(address).status_code) == (200, 405)
    served = {name.rsplit(".")[-1]: Client().get(f"/static/{name}")["Content-Type"] for name in contents()}
    assert served == {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


def test_a_client_that_refuses_gzip_gets_none() -> None:
    for accepted in ("", "identity", "gzip;q=0", "br, gzip; q=0.0, deflate"):
        answer = Client().get(staticfiles_storage.url("signer/signer.css"), headers={"Accept-Encoding": accepted})
        assert "Content-Encoding" not in answer


@pytest.mark.parametrize(
    "name",
    [
        "", "signer", "signer/signer.css", "signer/../signer/signer.css", "nothing.css", "signer/signer.css%00.svg",
        "../config/settings.py", "%2e%2e/config/settings.py", "signer/..%2f..%2f..%2fconfig%2fsettings.py",
        "/etc/passwd", "%00", "a/" * 4000, "signer/templates/signer/page.html",
    ],
)  # fmt: skip
def test_nothing_else_is_served(name: str) -> None:
    answer = Client().get(f"/static/{name}")
    assert (answer.status_code, answer.content) == (404, Client().get("/nothing-at-all").content)


def test_what_changes_gets_another_name_and_what_pages_need_together_comes_bare_in_one_file(
    tmp_path: Path, settings: pytest.FixtureRequest
) -> None:
    before = StaticFiles().url("signer/signer.css")
    (tmp_path / "signer").mkdir()
    (tmp_path / "signer/signer.css").write_text("/* Our\n   colours. */\nbody{\n    background:url(icon.svg)}\n\n")
    (tmp_path / "signer/one.js").write_text("// All.\n// with two.js\nif (one) {\n    // Why.\n    two(); // that\n}\n")
    (tmp_path / "signer/two.js").write_text("\n// Two.\nfunction two() {}\n")
    settings.STATICFILES_DIRS = [tmp_path]  # type: ignore[attr-defined]  # searched before the folders of applications
    after = StaticFiles()
    assert after.url("signer/signer.css") not in (before, "/static/signer/signer.css")
    [name] = [name for name in after.hashed_files.values() if name.startswith("signer/signer.")]
    assert text(after, "signer/one.js") == "function two() {}\nif (one) {\ntwo(); // that\n}"
    assert re.fullmatch(r'body\{\nbackground:url\("icon\.[0-9a-f]{12}\.svg"\)\}', text(after, name))


def test_a_page_that_names_a_missing_file_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"signer/nothing\.css"):
        staticfiles_storage.url("signer/nothing.css")


BROWSER = Client(headers={"Accept-Encoding": "gzip, deflate, br"})


def test_signing_pages_are_small_and_compressed_and_their_length_says_little(made: Scene) -> None:
    """The length of the same page differs from answer to answer by up to 100 bytes (against BREACH)."""
    answers = [BROWSER.get(made.url()) for _ in range(12)]
    assert {(each["Content-Encoding"], each["Cache-Control"]) for each in answers} == {("gzip", "no-store")}
    assert len({len(each.content) for each in answers}) > 6
    [page] = {re.sub(r'nonce="[^"]+"', "", gzip.decompress(each.content).decode()) for each in answers}
    for pages, most in ((3, 3), (81, 6)):
        plain = gzip.decompress(BROWSER.get(scene(pages=pages).url()).content)
        assert len(gzip.compress(plain, 6)) <= most * 1024
    loaded = set(re.findall(r'"(/static/[^"]+)"', page))
    assert len(loaded) == 4 and sum(len(BROWSER.get(address).content) for address in loaded) < 16 * 1024
    assert "Content-Encoding" not in Client(headers={"Accept-Encoding": "identity"}).get(made.url())


def test_nothing_that_carries_a_one_time_secret_is_compressed(made: Scene) -> None:
    owner = create_application(made.request.organization_id, "sandbox", "shop")
    client = Client(headers={"Accept-Encoding": "gzip", "X-Api-Key": owner.api_key})
    answers = [
        call(client, made, "/otp", {"channel": "email"}),
        sign(client, made),
        client.get(made.url(rest="/progress")),
        *(client.get(f"/api/v1/{path}") for path in (f"signature_requests/{made.request.pk}", "openapi.json")),
        client.get("/api/v1/signature_requests"),
    ]
    assert [answer.status_code for answer in answers] == [200] * 6 and "X-Copy-Ticket" in answers[1].headers
    assert not any("Content-Encoding" in answer.headers for answer in answers)


def text(storage: Storage, name: str) -> str:
    with storage.open(name) as file:
        content: bytes = file.read()
    return content.decode()
