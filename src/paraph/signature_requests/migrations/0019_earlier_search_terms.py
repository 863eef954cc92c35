"""Notes the words of requests that were made before, while the service works; safe to repeat."""

from django.db import migrations

from paraph.database.in_batches import InBatches

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


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("signature_requests", "0018_search_terms")]
    operations = [
        InBatches("search terms of signers", "signature_requests_signer", _SIGNERS, microseconds=200),
        InBatches("search terms of documents", "signature_requests_requestdocument", _DOCUMENTS, microseconds=150),
    ]
