"""What a process that reads untrusted files sees of them, and of the machine's own."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.sandbox import Sandbox
from tests.pdf import hostile
from tests.pdf.pdf_factory import chinese, paper, text
from tests.pdf.processes import eventually, worker_of

PDF = paper(text("{{sign1}}", 100, 300))


def test_a_process_keeps_nothing_of_a_file_that_it_has_read(sandbox: Sandbox) -> None:
    """The next one may be another customer's."""
    worker = worker_of(sandbox)
    for file in (PDF, hostile.nested_forms(3), PDF[:-200], b"%PDF-1.7\n"):
        for job, arguments in (("inspect", {"page_limit": 9}), ("find", {"tags": ["a"]})):
            with contextlib.suppress(PdfRefused):
                sandbox.call(job, file, **arguments)
            if os.geteuid() == 0:  # nobody else may look
                assert eventually(lambda: "memfd:pdf" not in Path(f"/proc/{worker}/smaps").read_text())


def test_fonts_of_the_machine_are_used_inside(sandbox: Sandbox) -> None:
    """A file that brings no letters of its own looks as it does to a reader that nothing confines."""
    pdf = chinese("合同签字")
    _, confined = sandbox.call("render", pdf, page_number=1, scale=1, form="png")
    script = (
        "import sys; from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile;"
        "from paraph.pdf.untrusted.jobs.render_job import render;"
        "file = UntrustedFile(content=sys.stdin.buffer.read());"
        "sys.stdout.buffer.write(render(file, 1, 1, 'png')[1])"
    )
    free = subprocess.run([sys.executable, "-c", script], input=pdf, capture_output=True, check=True).stdout
    assert confined == free
