"""What the attacks on files share: a request from upload to proof, and the verifier's word on its files."""

from pathlib import Path

import httpx
from click.testing import CliRunner, Result

from paraph.cli import main
from tests.attacks.conftest import Target
from tests.scenarios.people import Backend, at, sign, signer


def finished(backend: Backend, uploaded: bytes) -> dict[str, bytes]:
    """The files of a request whose one signer has signed."""
    document = backend.upload(uploaded)
    created = backend.create(
        mode="parallel",
        validity_days=7,
        signers=[signer("zoe", order=1)],
        documents=[{"id": document, "signers": [{"signer_ref": "zoe", "stamps": [at()]}]}],
    )
    assert sign(created["signers"][0]["signing_url"]).status_code == 200
    [urls] = backend.finalized(created["id"])["download_urls"]
    return {
        "uploaded.pdf": uploaded,
        "signed.pdf": httpx.get(urls["signed_url"]).content,
        "proof.pdf": httpx.get(urls["certificate_url"]).content,
    }


def verified(folder: Path, target: Target, *options: str, **files: bytes) -> Result:
    """What ``paraph verify`` says of the files, with the service's own roots."""
    paths = [folder / f"{name}.pdf" for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        path.write_bytes(content)
    return CliRunner().invoke(main, ["verify", *map(str, paths), *options, "--data-dir", str(target.data_dir)])
