"""Rewriting a file that cannot be extended as it is: qpdf reads what it can, and writes it plainly."""

import io

import pikepdf

_LARGEST_NUMBER = 8_388_607  # more objects than any reader takes (ISO 32000-1, annex C)


class Unreadable(Exception):
    """Not even qpdf reads the file; the message is a sentence for people."""


def normalised(pdf: bytes) -> bytes:
    """The same document with its objects in plain order, encryption kept.

    Raises :class:`Unreadable`.
    """
    try:
        with pikepdf.open(io.BytesIO(pdf), attempt_recovery=True, suppress_warnings=True) as document:
            if not len(document.pages):
                raise Unreadable("The PDF has no pages.")
            if "/Size" not in document.trailer:
                document.trailer["/Size"] = min(len(document.objects) + 1, _LARGEST_NUMBER)
            target = io.BytesIO()
            document.save(
                target,
                object_stream_mode=pikepdf.ObjectStreamMode.disable,
                stream_decode_level=pikepdf.StreamDecodeLevel.none,
                encryption=document.is_encrypted,
            )
            return target.getvalue()
    except pikepdf.PasswordError as error:
        raise Unreadable("The PDF needs a password to open.") from error
    except (
        pikepdf.PikepdfError,
        ValueError,
        RuntimeError,
        RecursionError,
        AssertionError,
        KeyError,
        TypeError,
    ) as error:
        raise Unreadable("The PDF is damaged beyond repair.") from error
