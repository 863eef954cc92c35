"""Fills the database of a service with requests, their journal, and retries that wait.

    PARAPH_DATA_DIR=folder python -m benchmarks.crowd REQUESTS RETRIES

Inside PostgreSQL, without triggers, spread over twenty organizations and a year: of each request a signer, a document,
ten entries of the journal, a seal and a proof. Of the retries, each is a webhook and a job, due in hours. Prints the
API key of the first organization.
"""

import os
import sys

from benchmarks.lists import FILL

_ORGANIZATIONS = 20
_REST = """
INSERT INTO journal_entry (organization_id, environment, request_id, position, event_type, ip, user_agent, metadata,
    created_at, previous_hash, hash)
SELECT organization_id, environment, id, position, 'signer.viewed', '', '', '{{}}', created_at, '\\x00',
    int8send(id * 10 + position)
FROM signature_requests_signaturerequest, generate_series(1, 10) AS position WHERE organization_id = {organization};
INSERT INTO evidence_sealeddocument (request_document_id, object_key, sha256, file_size, seal, created_at)
SELECT document.id, 'bench/sealed/' || document.id, '\\x00', 1000, '{{}}', now()
FROM signature_requests_requestdocument AS document JOIN signature_requests_signaturerequest AS request
    ON request.id = document.request_id WHERE organization_id = {organization};
INSERT INTO evidence_prooffile (request_id, object_key, sha256, file_size, seal, created_at)
SELECT id, 'bench/proof/' || id, '\\x00', 1000, '{{}}', now()
FROM signature_requests_signaturerequest WHERE organization_id = {organization};
INSERT INTO webhooks_delivery (application_id, request_id, destination, url, endpoint, event_type, occurred_at, payload,
    status, failures, due_at)
SELECT {application},
    (SELECT min(id) FROM signature_requests_signaturerequest WHERE organization_id = {organization}),
    'application', 'https://hooks.example/', '{application} https://hooks.example:443', 'request.expired', now(),
    '{{}}', 'waiting', 1, now() + interval '5 hours' + n * interval '1 ms'
FROM generate_series(1, {retries}) AS n;
INSERT INTO procrastinate_jobs (queue_name, task_name, args, status, scheduled_at, attempts)
SELECT 'mail', 'paraph.flow.jobs.notify_completion', jsonb_build_object('request_id', n), 'todo',
    now() + interval '5 hours' + n * interval '1 ms', 1
FROM generate_series(1, {retries}) AS n;
"""


def main() -> None:
    requests, retries = (max(1, int(number) // _ORGANIZATIONS) for number in sys.argv[1:])
    os.environ["DJANGO_SETTINGS_MODULE"] = "paraph.config.settings"
    import django

    django.setup()
    from django.db import connection

    from paraph.organizations.registration import create_application, create_organization

    keys = []
    with connection.cursor() as cursor:
        cursor.execute("SET enable_nestloop = off")  # before there are statistics, it is thought to be good
        for number in range(_ORGANIZATIONS):
            organization = create_organization(f"Crowd {number}", "pro")
            made = create_application(organization.pk, "sandbox", "bench")
            keys.append(made.api_key)
            of = {"organization": organization.pk, "application": made.application.pk, "retries": retries}
            cursor.execute((FILL + _REST).format(count=requests, **of))
            cursor.execute("RESET session_replication_role")
        cursor.execute("VACUUM ANALYZE")
    print(keys[0])


if __name__ == "__main__":
    main()
