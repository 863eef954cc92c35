"""Lines for a terminal that send a first request, to the member themselves."""

import json
import shlex

from paraph.tenants.models import User

_ID = """python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])'"""
_DOCUMENT = "DOCUMENT"


def first_request(base_url: str, user: User) -> str:
    """Return lines that upload ``contract.pdf`` and ask for a signature at the foot of its first page. The shell's
    variable ``KEY`` is the API key."""
    body = shlex.quote(json.dumps(_request(user), indent=2))
    body = body.replace(f'"id": "{_DOCUMENT}"', "\"id\": '$DOCUMENT'")
    return (
        f'DOCUMENT=$(curl -s "{base_url}/documents" -H "X-Api-Key: $KEY" \\\n'
        f'  -F "file=@contract.pdf;type=application/pdf" | {_ID})\n'
        f'curl "{base_url}/signature_requests" -H "X-Api-Key: $KEY" \\\n'
        f'  -H "Content-Type: application/json" -d {body}'
    )


def _request(user: User) -> dict[str, object]:
    first_name, _, last_name = user.name.strip().partition(" ")
    signer = {
        "ref": "me",
        "first_name": first_name or "Ada",
        "last_name": last_name.strip() or "Lovelace",
        "email": user.email,
        "order": 1,
    }
    stamp = {"type": "coordinates", "value": {"page_number": 1, "x": 60, "y": 60}}
    documents = [{"id": _DOCUMENT, "signers": [{"signer_ref": "me", "stamps": [stamp]}]}]
    return {
        "signature_request": {
            "mode": "sequential",
            "validity_days": 30,
            "signers": [signer],
            "documents": documents,
        }
    }
