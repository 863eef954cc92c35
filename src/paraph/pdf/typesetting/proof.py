"""The proof file of a request, before it is sealed (rule 2.2, last paragraph)."""

from paraph.pdf.typesetting.proof_content import ProofContent
from paraph.pdf.typesetting.proof_template_data import template_data
from paraph.pdf.typesetting.typeset import typeset


def proof(content: ProofContent) -> bytes:
    """Typesets the proof as PDF/A-3b with evidence.json attached. The same content gives the same bytes."""
    return typeset("proof", template_data(content), standard="a-3b", at=content.issued_at.replace(microsecond=0))
