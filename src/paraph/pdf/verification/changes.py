"""The changes to a file after one of its signatures."""

from collections.abc import Sequence

from pyhanko.sign.diff_analysis import ModificationLevel

from paraph.pdf.verification.embedded_signatures import SignedFile
from paraph.pdf.verification.signature_check import SignatureCheck


def changes(file: SignedFile, check: SignatureCheck, later: Sequence[SignatureCheck]) -> tuple[bool, list[str]]:
    """Returns whether the file was altered after the signature of ``check``, and a sentence for each addition.

    ``later``: the signatures after it. Long-term data, document timestamps and further signatures alter nothing.
    """
    name = check.embedded.label
    if check.coverage == "whole file":
        return False, []
    if check.coverage == "unclear":
        return True, [f"Nobody can tell what was changed after {name}."]
    added = [_addition(other) for other in later]
    if file.long_term_data() != file.long_term_data(check.embedded):
        added.append(f"Long-term validation data was added after {name}.")
    if len(later) == 1 and later[0].archives and check.embedded.is_followed_by(later[0].embedded):
        return False, added
    altered = _alterations(check, later)
    return bool(altered), [*added, *altered]


def _addition(other: SignatureCheck) -> str:
    if other.embedded.fault:
        return f"A signature that cannot be read was added ({other.embedded.label})."
    if other.embedded.is_document_timestamp:
        return f'A document timestamp by "{other.signer}" was added ({other.embedded.label}).'
    return f'A signature by "{other.signer}" was added ({other.embedded.label}).'


def _alterations(check: SignatureCheck, later: Sequence[SignatureCheck]) -> list[str]:
    name = check.embedded.label
    appended = check.embedded.appended()
    if appended is None:
        return [f"Nobody can tell what was changed after {name}."]
    level, fields = appended
    if level is ModificationLevel.OTHER or level is ModificationLevel.ANNOTATIONS:
        return [f"The file was changed after {name}: its content, its properties or its comments."]
    timestamps = [other.embedded for other in later if other.embedded.is_document_timestamp]
    visible = [timestamp.label for timestamp in timestamps if timestamp.shows]
    if visible:
        return [f"The document timestamp {visible[0]} draws on a page, which a timestamp has no reason to do."]
    filled = sorted(fields - {other.embedded.field_name for other in later})
    if filled:
        return [f"Form fields were changed after {name}: {', '.join(filled)}."]
    last = [check, *later][-1]
    if last.coverage == "its revision" and last.embedded.is_last():
        return [f"Bytes were appended after {last.embedded.label} that belong to no revision."]
    return []
