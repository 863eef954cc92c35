"""The PDFium library, which remembers fonts from one file to the next.

For a font that a file does not embed, PDFium reuses the substitute that it fitted for an earlier file. In a process
that has read another file, letters may therefore be as narrow as that file wanted them, and stand elsewhere.
"""

from pypdfium2 import raw

_CONFIGURATION = raw.FPDF_LIBRARY_CONFIG(version=2)  # as pypdfium2 initializes the library


def begin_anew() -> None:
    """Let PDFium forget all that it has read. No document may be open."""
    raw.FPDF_DestroyLibrary()
    raw.FPDF_InitLibraryWithConfig(_CONFIGURATION)
