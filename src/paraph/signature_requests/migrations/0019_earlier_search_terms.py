"""Notes the words of requests that were made before, while the service works; safe to repeat."""

from typing import Any

from django.db import migrations

_AT_ONCE = 20_000
_SIGNERS = """
    INSERT INTO signature_requests_searchterm (organization_id, environment, term, request_id)
    SELECT request.organization_id, request.environment, word, request.id
    FROM signature_requests_signer AS signer
    JOIN signature_requests_signaturerequest AS request ON request.id = signer.request_id,
    signature_requests_words_of_signer(signer.first_name, signer.last_name, signer.email) AS word
    WHERE signer.id >= %s AND signer.id < %s ON CONFLICT DO NOTHING
"""
_DOCUMENTS = """
    INSERT INTO signature_requests_searchterm (organization_id, environment, term, request_id)
    SELECT document.organization_id, document.environment, word, listed.request_id
    FROM signature_requests_requestdocument AS listed
    JOIN documents_document AS document ON document.id = listed.document_id,
    signature_requests_words_of_file(document.name) AS word
    WHERE listed.id >= %s AND listed.id < %s ON CONFLICT DO NOTHING
"""


_ENDS_OF_SIGNERS = "SELECT coalesce(min(id), 0), coalesce(max(id), -1) FROM signature_requests_signer"
_ENDS_OF_DOCUMENTS = "SELECT coalesce(min(id), 0), coalesce(max(id), -1) FROM signature_requests_requestdocument"


def note(_apps: Any, editor: Any) -> None:
    with editor.connection.cursor() as cursor:
        for ends, statement in ((_ENDS_OF_SIGNERS, _SIGNERS), (_ENDS_OF_DOCUMENTS, _DOCUMENTS)):
            cursor.execute(ends)
            first, last = cursor.fetchone()
            for start in range(first, last + 1, _AT_ONCE):
                cursor.execute(statement, [start, start + _AT_ONCE])


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("signature_requests", "0018_search_terms")]
    operations = [migrations.RunPython(note, migrations.RunPython.noop)]
