"""Milliseconds per seal beside other libraries, each as its guide shows it, in one run on the same files.

    python -m benchmarks.peers [--rounds 9]

B-B with RSA-2048, no marks: what all of them do. LibPDF and signpdf (with pdf-lib) run on Node.js, installed by npm
from the lock beside them into a temporary folder; pyHanko is the one of this environment; HexaPDF takes part where
Ruby has its gem. All figures are medians of processor time, warm. Paraph's contain the check of the result, which no
other makes.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import PrivateFormat
from cryptography.hazmat.primitives.serialization.pkcs12 import PBES, serialize_key_and_certificates

from benchmarks.seal import AT, median
from benchmarks.seal_files import FILES, make
from benchmarks.seal_keys import PURPOSE, private_key, pyhanko_signer, sealing_key
from paraph.keys import development
from paraph.pdf.sealing.seal import seal

_NODE = Path(__file__).parent / "peers_node"
_RUBY = Path(__file__).parent / "peers_ruby" / "peers.rb"
_PASSWORD = "benchmark"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    if not (shutil.which("node") and shutil.which("npm")):
        sys.exit("The peers need Node.js and npm (Debian and Ubuntu: apt-get install nodejs npm).")
    with tempfile.TemporaryDirectory(prefix="paraph-peers-") as folder:
        home = _installed(Path(folder))
        programs = _programs()
        for name in FILES:
            _print_row(name, rounds, home, programs)


def _installed(home: Path) -> Path:
    shutil.copytree(_NODE, home, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=home, check=True)
    private = private_key("RSA-2048")
    certificate = development.issue_sealing(
        private, private.public_key()
    )  # signpdf reads no certificate of another kind
    old = PrivateFormat.PKCS12.encryption_builder().key_cert_algorithm(PBES.PBESv1SHA1And3KeyTripleDESCBC)
    bundle = old.hmac_hash(SHA1()).kdf_rounds(2048).build(_PASSWORD.encode())  # nor any newer file
    (home / "key.p12").write_bytes(serialize_key_and_certificates(b"seal", private, certificate, None, bundle))
    return home


def _print_row(name: str, rounds: int, home: Path, programs: list[list[str]]) -> None:
    pdf, key, signer = make(name), sealing_key("RSA-2048"), pyhanko_signer("RSA-2048")
    ours = median(lambda: seal(pdf, key=key, purpose=PURPOSE, timestamping=None, at=AT, clean_contents=True), rounds)
    (home / "file.pdf").write_bytes(pdf)
    others: dict[str, float] = {}
    for program in programs:
        others |= _said(program, rounds, home)
    others["pyHanko"] = median(lambda: signer(BytesIO(pdf)), rounds)
    if name == next(iter(FILES)):
        print("ms, B-B, RSA-2048".ljust(20) + "".join(f"{peer:>9}" for peer in ("Paraph", *others)))
    pages, _, size = FILES[name]
    cells = "".join(f"{value:9.1f}" for value in (ours, *others.values()))
    quickest = f"   the quickest of them: {min(others.values()) / ours:.1f} times ours"
    print(f"{name}: {pages} p., {size / 1e6:.2f} MB".ljust(20) + cells + quickest, flush=True)


def _programs() -> list[list[str]]:
    """Those that time the libraries of other languages."""
    programs = [["node", "peers.mjs"]]
    if not shutil.which("ruby"):
        print("Without HexaPDF: there is no Ruby here.")
    elif subprocess.run(["ruby", "-e", "require 'hexapdf'"], capture_output=True, check=False).returncode:
        print("Without HexaPDF: Ruby has no gem of it here (gem install hexapdf).")
    else:
        programs.append(["ruby", str(_RUBY)])
    return programs


def _said(program: list[str], rounds: int, home: Path) -> dict[str, float]:
    command = [*program, "file.pdf", "key.p12", _PASSWORD, str(rounds)]
    said = subprocess.run(command, cwd=home, check=True, capture_output=True, text=True).stdout
    medians: dict[str, float] = json.loads(said)
    return medians


if __name__ == "__main__":
    main()
