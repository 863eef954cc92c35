"""What others say may stand in a line of the log; what opens something may not."""

import pytest

from paraph.config.logs import _cover


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("550 https://sign.example/sign/Ab3-_9xQ0123456789 is listed", "550 https://sign.example/sign/… is listed"),
        ("GET /files/a.pdf?expires=1&signature=0123456789abcdef", "GET /files/a.pdf?expires=1&signature=…"),
        ("X-Amz-Signature=0123456789abcdef&x=1", "X-Amz-Signature=…&x=1"),
        ("key " + "0af3" * 16 + " refused", "key … refused"),
        ("sign/<str:token> took 12 ms", "sign/<str:token> took 12 ms"),
    ],
)  # fmt: skip
def test_secrets_are_covered(said: str, kept: str) -> None:
    assert _cover(None, "info", said) == kept
