"""OpenSSL as a timestamp authority, and as a judge of timestamps."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509

from tests import independent
from tests.keys.odd_chains import Key, pem, private
from tests.pdf.forge import POLICY

_CONFIGURATION = f"""[tsa]
serial = serial
signer_cert = own.pem
signer_key = own.key
certs = others.pem
signer_digest = sha256
default_policy = {POLICY}
digests = sha256, sha384
ess_cert_id_alg = sha256
"""


@dataclass
class Responder:
    """``openssl ts -reply`` with a key, its certificate, and what else it sends along."""

    folder: Path
    own: Key
    certificate: x509.Certificate
    others: tuple[x509.Certificate, ...] = ()
    written: Callable[[bytes], bytes] = bytes
    """The answer in another form."""
    name: str = "openssl"
    more: str = ""
    """Of the configuration."""

    def answer(self, request: bytes, timeout: float) -> bytes:
        files = {"own.key": private(self.own), "own.pem": pem(self.certificate), "others.pem": pem(*self.others)}
        files |= {"ts.cnf": (_CONFIGURATION + self.more).encode(), "serial": b"01\n", "query": request}
        for file, content in files.items():
            (self.folder / file).write_bytes(content)
        openssl_ts(self.folder, "-reply -config ts.cnf -section tsa -queryfile query -out answer", timeout)
        answer = self.written((self.folder / "answer").read_bytes())
        (self.folder / "answer").write_bytes(answer)
        return answer


def openssl_ts(folder: Path, words: str, timeout: float = 10) -> str:
    command = [independent.need("openssl", "openssl"), "ts", *words.split()]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, timeout=timeout).stdout.decode()
