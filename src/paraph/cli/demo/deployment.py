"""``paraph demo --url``: a smoke test of a service that runs already, with a sandbox key of it.

Its webhooks go where its application says, and are not heard here.
"""

from collections.abc import Sequence
from pathlib import Path

import click
import httpx

from paraph.cli.demo.checks import digest_problems
from paraph.cli.demo.output_folder import write
from paraph.cli.demo.walk import Backend, DemoResult, Signing, Stopwatch, walk
from paraph.pdf.untrusted.verify import check_evidence, verify
from paraph_client import Client, ParaphError


def try_out(
    backend: Backend, pdf: bytes, *, name: str, signings: list[Signing], roots: Sequence[bytes], out: Path
) -> None:
    """Has the PDF signed, leaves what came back in ``out``, and checks it. ``roots``: DER of the certificates to trust;
    without any, it is not judged who sealed. Raises ``ClickException`` with a sentence of what does not hold."""
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
