"""What every judgement of a run shares: keys, pictures, and the programs of others."""

import io
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pikepdf
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from benchmarks.corpus.programs import SECONDS, run
from paraph.keys import development_authority
from paraph.pdf.pki.statuses import DevelopmentStatuses, LongTerm
from paraph.pdf.timestamps.authorities import BuiltInAuthority
from paraph.pdf.timestamps.timestamp import Timestamping


class Court:
    """Lives in one folder, so that several processes use the same authority and the same NSS store."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        authority = development_authority(folder, b"a secret for the corpus run, no other")
        self.key = authority.sealing_key
        self.timestamping = Timestamping([BuiltInAuthority(authority.timestamp_key)], [authority.root])
        self.roots = [authority.root]
        self.long_term = LongTerm(
            [DevelopmentStatuses(authority)],
            authority_chain=(authority.timestamp_key.certificate, authority.root),
        )
        self.pictures = pictures()
        self._store = folder / "nss"
        if not self._store.exists():
            self._store.mkdir()
            root = folder / "root.pem"
            root.write_bytes(x509.load_der_x509_certificate(authority.root).public_bytes(Encoding.PEM))
            for arguments in (["-N", "--empty-password"], ["-A", "-n", "root", "-t", "CT,C,C", "-i", str(root)]):
                subprocess.run(["certutil", "-d", f"sql:{self._store}", *arguments], check=True, timeout=SECONDS)

    def pdfsig(self, pdf: bytes) -> str:
        """What poppler says of the signatures. Raises ``NoAnswer`` when it hangs, as :meth:`qpdf` does."""
        return self._run("pdfsig", "-nssdir", f"sql:{self._store}", pdf=pdf)[1]

    def qpdf(self, pdf: bytes) -> tuple[int, str]:
        """Exit status (0, 3 for warnings, 2 for errors) and what it says."""
        return self._run("qpdf", "--check", pdf=pdf)

    def _run(self, *command: str, pdf: bytes) -> tuple[int, str]:
        with tempfile.NamedTemporaryFile(suffix=".pdf", dir=self._folder) as file:
            file.write(pdf)
            file.flush()
            done = run([*command, file.name])
            return done.returncode, done.stdout.decode(errors="replace")


@cache
def pictures() -> bytes:
    """A red rectangle for the mark; a transparent square with a green bar across its middle for the overlay."""
    document = pikepdf.new()
    for size, operators in (((100, 50), b"1 0 0 rg 0 0 100 50 re f"), ((100, 100), b"0 1 0 rg 10 48 80 4 re f")):
        page = document.add_blank_page(page_size=size)
        page.obj.Contents = document.make_stream(operators)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()
