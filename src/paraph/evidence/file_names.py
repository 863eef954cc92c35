"""The names that the files of a request are saved as, whoever downloads them."""


def signed_name(document_name: str) -> str:
    """Returns the name of the sealed form of the document with this name, such as ``lease-signed.pdf``."""
    stem = document_name[:-4] if document_name.lower().endswith(".pdf") else document_name
    return f"{stem}-signed.pdf"


def proof_name(request_id: int) -> str:
    return f"proof-{request_id}.pdf"
