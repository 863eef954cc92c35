"""With thousands of requests in two organizations, the list, every search and home read indexes: no walk through a
table, and no sorting of all that an organization has."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from paraph.tenants.models import Member, Organization, User
from tests.api.v1.api_clients import api_client, payload
from tests.dashboard.conftest import BrowserClient
from tests.plans.skewed import nodes

pytestmark = pytest.mark.django_db

_ROWS = 5000
_LARGE = (
    "signature_requests_signaturerequest",
    "signature_requests_searchterm",
    "signature_requests_signer",
    "signature_requests_requestdocument",
)
# As the API makes them, but for the triggers of each row.
_COPIES = """
    SET LOCAL session_replication_role = replica;
    INSERT INTO signature_requests_signaturerequest (organization_id, environment, application_id, mode, status,
        finalized, validity_days, send_email, initials_required, notify_signers_on_completion, callback_url, locale,
        locale_chosen, created_at, expires_at, completed_at)
    SELECT organization_id, environment, application_id, mode,
        CASE WHEN n %% 3 = 0 THEN 'pending' WHEN n %% 3 = 1 THEN 'completed' ELSE 'expired' END,
        n %% 300 <> 1, 30, true, false, false, '', 'en', false, created_at - n * interval '20 minutes',
        created_at + n * interval '20 minutes', created_at
    FROM signature_requests_signaturerequest, generate_series(1, %(rows)s) AS n;
    INSERT INTO signature_requests_signer (request_id, first_name, last_name, email, phone, "order", otp_channel,
        status, token_salt, locale)
    SELECT id, 'Ada', 'Lovelace' || id %% 500, 'ada' || id || '@example.com', '', 1, '', 'pending', '', ''
    FROM signature_requests_signaturerequest request
    WHERE NOT EXISTS (SELECT FROM signature_requests_signer WHERE request_id = request.id);
    INSERT INTO signature_requests_requestdocument (request_id, document_id, position)
    SELECT request.id, (SELECT min(document.id) FROM documents_document document
                        WHERE document.organization_id = request.organization_id), 0
    FROM signature_requests_signaturerequest request
    WHERE NOT EXISTS (SELECT FROM signature_requests_requestdocument WHERE request_id = request.id);
    INSERT INTO signature_requests_searchterm (organization_id, environment, term, request_id)
    SELECT organization_id, environment, word, request.id
    FROM signature_requests_signaturerequest request
    JOIN signature_requests_signer signer ON signer.request_id = request.id,
    signature_requests_words_of_signer(first_name, last_name, email) AS word ON CONFLICT DO NOTHING;
    SET LOCAL session_replication_role = origin;
    ANALYZE signature_requests_signaturerequest, signature_requests_signer, signature_requests_searchterm,
        signature_requests_requestdocument;
"""


@pytest.fixture
def owner() -> tuple[Organization, Client]:
    """Of an organization with thousands of requests, beside another with as many."""
    for one in (api_client(), api_client()):
        one.create(payload(one.document()))
        organization = one.organization
    with connection.cursor() as cursor:
        cursor.execute(_COPIES, {"rows": _ROWS})
    assert organization
    user = User.objects.create(email="owner@example.com")
    Member.objects.create(organization=organization, user=user, role="owner")
    client = BrowserClient()
    client.force_login(user)
    return organization, client


@pytest.mark.thorough
def test_every_page_reads_indexes(owner: tuple[Organization, Client]) -> None:
    organization, client = owner
    home, requests = f"/app/{organization.pk}/", f"/app/{organization.pk}/requests"
    newest = organization_request(organization)
    queries = ["", "?order=asc", "?status=pending", "?status=expired&created_after=2026-01-01", f"?following={newest}"]
    queries += [f"?previous={newest - 100}", "?q=ada", "?q=ada&status=expired", "?q=lovelace7", "?q=ada+lovelace7"]
    queries += ["?q=lovel", f"?q=ada{newest}@example.com", f"?q={newest}", "?q=nobody"]
    for address in [home, f"{requests}/{newest}", *(requests + query for query in queries)]:
        with CaptureQueriesContext(connection) as asked:
            assert client.get(address).status_code == 200
        statements = [each["sql"] for each in asked if each["sql"].lstrip().startswith(("SELECT", "WITH"))]
        large = [sql for sql in statements if any(table in sql for table in _LARGE)]
        assert large, address
        for sql in large:
            assert_reads_indexes(address, sql)


def assert_reads_indexes(address: str, sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + sql.replace("%", "%%"))
        [(found,)] = cursor.fetchall()
    for node in nodes(found[0]["Plan"]):
        table = node.get("Relation Name", "")
        assert not (node["Node Type"] == "Seq Scan" and table in _LARGE), (address, sql, node)
        rows = node["Actual Rows"] * node["Actual Loops"]
        assert not (table in _LARGE and rows > _ROWS / 2), (address, sql, node)


def organization_request(organization: Organization) -> int:
    with connection.cursor() as cursor:
        statement = "SELECT max(id) FROM signature_requests_signaturerequest WHERE organization_id = %s"
        cursor.execute(statement, [organization.pk])
        [(found,)] = cursor.fetchall()
    return int(found)
