"""Panics of Typst."""

import pytest

from paraph.pdf.typesetting import typeset
from paraph.pdf.typesetting.typeset import TypesettingError


def test_a_panic_is_an_error_and_ends_nothing() -> None:
    class Panic(BaseException):
        """As Typst raises one."""

    with pytest.raises(TypesettingError, match="out of file ids"), typeset._panics_raised():
        raise Panic("out of file ids")
    with pytest.raises(KeyboardInterrupt), typeset._panics_raised():
        raise KeyboardInterrupt
