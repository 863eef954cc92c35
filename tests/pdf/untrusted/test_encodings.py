"""The sandboxed processes know every encoding that Python has, though they can load nothing any more."""

import subprocess
import sys

_ENCODINGS = ["utf-8-sig", "UTF-8-SIG", "utf-7", "cp1250", "iso8859-2", "shift_jis", "koi8-r", "pdfdoc"]
_CLOSED = """
import sys
from paraph.pdf.untrusted.jobs.serving import look_up_encodings
look_up_encodings()
sys.path.clear(), sys.meta_path.clear(), sys.path_hooks.clear()
for encoding in sys.argv[1:]:
    print(b"ab".decode(encoding))
"""


def test_an_encoding_is_known_where_nothing_can_be_loaded() -> None:
    """Metadata, for one, is read as UTF-8 with a mark in front."""
    command = [sys.executable, "-c", _CLOSED, *_ENCODINGS]
    said = subprocess.run(command, capture_output=True, check=False, text=True)
    assert said.stdout.split() == ["ab"] * len(_ENCODINGS), said.stderr
