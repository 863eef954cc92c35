"""PDFium's library, which has a memory of its own from one file to the next.

It fits the substitute of a font that a file does not bring to what it drew with it before. In a process that has read
another file, letters may then be as narrow as that one wanted them, and stand elsewhere.
"""

from pypdfium2 import raw

_CONFIGURATION = raw.FPDF_LIBRARY_CONFIG(version=2)  # as pypdfium2 begins it


def begin_anew() -> None:
    """Let PDFium forget all that it has read. No document may be open."""
    raw.FPDF_DestroyLibrary()
    raw.FPDF_InitLibraryWithConfig(_CONFIGURATION)
