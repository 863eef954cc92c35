"""``paraph demo``: upload, signing, sealing and proof over HTTP, against a service that the demo starts itself, or one
that runs already."""

import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
import httpx

from paraph.cli.demo.contract import contract
from paraph.cli.demo.outcome import check, digest_problems, tied, write
from paraph.cli.demo.service import DemoService
from paraph.cli.demo.walk import Backend, DemoResult, Signing, Stopwatch, walk
from paraph.cli.demo.webhook_receiver import WebhookReceiver
from paraph.cli.verdict import show_verdict
from paraph.keys.certificates import read_roots
from paraph.pdf.untrusted.verify import check_evidence, verify
from paraph_client import Client, ParaphError, at, under_tag

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("demo")
@click.option("--pdf", type=_FILE, help="A PDF of your own.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("demo-output"), show_default=True)
@click.option("--url", help="Address of a service that runs already, to be tried in place of one of the demo's own.")
@click.option("--key", help="A sandbox key of that service.")
@click.option("--email", help="Address that its mails to both signers go to.  [addresses of example.com]")
@click.option("--root", "root_files", multiple=True, type=_FILE, help="PEM file of roots that its seals must chain to.")
def command(
    *, pdf: Path | None, out: Path, url: str | None, key: str | None, email: str | None, root_files: Sequence[Path]
) -> None:
    """Upload a PDF, have two people sign it one after the other, hear the webhooks, and verify what comes back."""
    if bool(url) != bool(key) or ((email or root_files) and not url):
        raise click.UsageError("--url and --key go together, and --email and --root with them.")
    content, name = (pdf.read_bytes(), pdf.name) if pdf else (contract(), "contract.pdf")
    signings = _signings(by_tag=pdf is None)
    if url and key:
        signings = [replace(signing, email=email or signing.email) for signing in signings]
        roots = [root for file in root_files for root in read_roots(file)]
        _on_a_service_that_runs(
            Backend(url.rstrip("/"), key), content, name=name, signings=signings, roots=roots, out=out
        )
        return
    _on_a_service_of_its_own(content, name, signings, out)


def _on_a_service_of_its_own(content: bytes, name: str, signings: list[Signing], out: Path) -> None:
    watch = Stopwatch(click.echo)
    with tempfile.TemporaryDirectory(prefix="paraph-demo-") as folder, WebhookReceiver() as receiver:
        with watch.stage("start the service", "start"):
            service = DemoService(Path(folder))
            service.start()
        try:
            with watch.stage("make an organization and a sandbox application", "set_up"):
                made = service.new_sandbox_application(receiver.url)
                backend = Backend(service.url, made["api_key"], made["webhook_secret"], receiver)
            result = walk(backend, content, name=name, signings=signings, watch=watch)
            root = service.root_certificate()
        except ParaphError as error:
            raise click.ClickException(str(error)) from error
        finally:
            service.stop()
    with watch.stage("verify the sealed PDF and the proof", "verify"):
        verdict = tied(result, root, out)
        problems = check(result, root, verdict)
    for path in write(out, result, root, watch.seconds, problems):
        click.echo(f"  {path}")
    if problems:
        raise click.ClickException("; ".join(problems))
    files = (str(out / name) for name in ("proof.pdf", "signed.pdf", "uploaded.pdf"))
    click.echo(shlex.join(["paraph", "verify", *files, "--root", str(out / "root-ca.pem")]))
    show_verdict(verdict)


def _signings(*, by_tag: bool) -> list[Signing]:
    """Two signers. In the demo's own contract one stamp is placed by tag and one by coordinates; in any other PDF,
    which need not have tags, both are placed at the foot of the last page."""
    tag, beside = under_tag("{{signature:landlord}}"), at(page_number=3, x=316, y=500)
    return [
        Signing("landlord", "Zoë", "Lindqvist", "zoe@example.com", tag if by_tag else None, drawn=True),
        Signing("tenant", "Νίκος", "Παπαδόπουλος", "nikos@example.com", beside if by_tag else None, drawn=False),
    ]


def _on_a_service_that_runs(
    backend: Backend, pdf: bytes, *, name: str, signings: list[Signing], roots: Sequence[bytes], out: Path
) -> None:
    """Have the PDF signed, leave what came back in ``out``, and check it: a smoke test with a sandbox key. Webhooks go
    where the application says, and are not heard here. ``roots``: DER of the certificates to trust; without any, it is
    not judged who sealed. Raise ``ClickException`` with a sentence of what does not hold."""
    watch = Stopwatch(click.echo)
    try:
        with watch.stage(f"ask {backend.url} which environment the key is of", "health"):
            _require_sandbox(backend)
        result = walk(backend, pdf, name=name, signings=signings, watch=watch)
    except ParaphError as error:
        raise click.ClickException(str(error)) from error
    except httpx.HTTPError as error:
        raise click.ClickException(f"{backend.url} does not answer as a Paraph does: {error}.") from error
    with watch.stage("verify the sealed PDF and the proof", "verify"):
        problems = _problems(result, roots) + digest_problems(result)
    for path in write(out, result, b"", watch.seconds, problems):
        click.echo(f"  {path}")
    if problems:
        raise click.ClickException("; ".join(problems))
    click.echo("Everything matches." if roots else "Everything is intact. Who sealed it is judged with --root only.")


def _require_sandbox(backend: Backend) -> None:
    with Client(backend.url, backend.api_key) as client:
        environment = client.health().environment
    if environment != "sandbox":
        raise click.ClickException(f"The key is of {environment}: the demo signs in the sandbox alone.")


def _problems(result: DemoResult, roots: Sequence[bytes]) -> list[str]:
    sealed = {"signed.pdf": result.signed, "proof.pdf": result.proof}
    if roots:
        return list(check_evidence(sealed | {"uploaded.pdf": result.uploaded}, roots).problems)
    problems = []
    for name, content in sealed.items():
        found = verify(content, [])
        if not (found.intact and found.covers_whole_file) or found.altered:
            problems.append(f"the seal of {name} does not hold: {' '.join(found.findings)}")
    return problems
