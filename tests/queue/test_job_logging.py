"""The log's line of a job names what it is about by numbers, and holds nothing that somebody wrote."""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from structlog.testing import capture_logs

from paraph.queue.jobs import Reschedule, logged


def done(**_: Any) -> None:
    pass


def failed(**_: Any) -> None:
    raise OSError("the server said: Ada")


@pytest.mark.parametrize("verb", [done, failed])
@pytest.mark.parametrize("secret", ["c2VhbGVk", ["c2VhbGVk"], {"mail": "c2VhbGVk"}, b"c2VhbGVk", 1.5, True, None])
def test_arguments_that_are_no_numbers_stay_out(verb: Callable[..., None], secret: Any) -> None:
    with capture_logs() as lines, suppress(OSError):
        logged("mail_account", verb)(trace="0123456789abcdef", request_id=4, signer_id=7, sealed=secret)
    [line] = lines
    assert (line["task"], line["signature_request"], line["signer_id"]) == ("mail_account", 4, 7)
    assert not re.search("c2VhbGVk|sealed|Ada", repr(line))


def test_one_that_is_put_off_likewise() -> None:
    class Full(Reschedule):
        reason, retry_after = "full", 5

    def later(**_: Any) -> None:
        raise Full

    with capture_logs() as lines, pytest.raises(Full):
        logged("mail_account", later)(sealed="c2VhbGVk")
    assert "sealed" not in lines[0]
