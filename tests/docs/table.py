"""What becomes of each block of code of README.md and docs: the tests that run it, or why none does.

Beside that, every block of a kind that ``test_blocks_of_each_kind.py`` knows is parsed as its kind is.
"""

from typing import NamedTuple


class Row(NamedTuple):
    """A block by its heading and the beginning of its first line."""

    heading: str
    begins: str
    kind: str
    tests: tuple[str, ...] = ()
    unless: str = ""
    """Why no test runs it."""


_DEMO = "tests/scenarios/test_demo.py::test_it_leaves_its_files_and_everything_verified"
_SERVE = "tests/cli/test_serve.py::test_first_start_second_start_and_stop"
_WALK = ("tests/scenarios/test_pasted_examples.py::test_the_walk_through_with_curl",)
_LIBRARY = ("tests/pdf/test_library.py::test_the_examples_run_one_after_the_other_without_django",)
_HELM = "tests/deploy/test_helm.py::test_the_documented_values_start_the_service"
_MOMENT = ("tests/cli/test_own_database.py::test_the_recipe_goes_back_to_a_moment",)
_BACKUP = "tests/cli/test_backup.py::test_a_backup_under_traffic_is_restored_whole"
_TOKEN = ("tests/docs/test_key_in_a_token.py::test_the_token_of_the_page_seals",)
_SETTINGS = "tests/docs/test_blocks_of_each_kind.py::test_settings_are_taken"
_POSTGRESQL = "tests/docs/test_blocks_of_each_kind.py::test_postgresql_starts_with_its_settings"
_PROXIES = "tests/docs/test_proxy_configurations.py::test_each_program_takes_its_configuration"
_HOSTS = "tests/docs/test_proxy_configurations.py::test_it_takes_that_of_several_hosts"
_FLOODS = "tests/attacks/test_proxies.py::test_silent_connections_keep_nobody_out"
_OPINIONS = ("tests/opinions/test_matrix.py::test_nobody_says_worse_of_any_file_and_no_alteration_goes_unseen",)
_AUDIT = ("tests/cli/test_log.py::test_an_audit_says_what_holds_and_what_does_not",)
_MACHINE = "It makes accounts, or starts services, of the machine that runs it."

TABLE: dict[str, tuple[Row, ...]] = {
    "README.md": (
        Row("Two commands", "make demo", "shell", (_DEMO,)),
        Row("First five minutes", "make serve", "shell", (_SERVE,)),
        Row("Walk through it with curl", "make serve", "shell", (_SERVE,)),
        Row("Walk through it with curl", "value() {", "shell", _WALK),
        Row("Walk through it with curl", "DOCUMENT=", "shell", _WALK),
        Row("Walk through it with curl", "curl -s $API/signature_requests ", "shell", _WALK),
        Row("Walk through it with curl", "CODE=", "shell", _WALK),
        Row("Walk through it with curl", "until ", "shell", _WALK),
    ),
    "docs/embedding.md": (
        Row(
            "Which sites may",
            "paraph application create",
            "shell",
            ("tests/cli/test_operator.py::test_an_application_names_the_sites_that_may_frame_its_pages",),
        ),
        Row(
            "How",
            "<div",
            "html",
            ("tests/signer/test_embedding.py::test_the_example_of_the_docs_signs_and_hears_of_it",),
        ),
    ),
    "docs/keys.md": (
        Row("PKCS#11", "openssl req", "shell", _TOKEN),
        Row("AWS KMS", "aws kms", "shell", unless="It takes an account of AWS."),
        Row(
            "AWS KMS",
            "{",
            "json",
            ("tests/keys/test_kms.py::test_two_permissions_are_enough_and_only_the_digest_travels",),
        ),
        Row("A provider of remote seals", "PARAPH_SEALING_KEY=", "settings", (_SETTINGS,)),
        Row("From a script", "from pathlib", "python", _TOKEN),
    ),
    "docs/library.md": (
        Row("Look at a file", "from pathlib", "python", _LIBRARY),
        Row("Find a place", "tag = ", "python", _LIBRARY),
        Row("Draw stamps, initials and a watermark", "from datetime", "python", _LIBRARY),
        Row("Open a key", "from paraph.keys", "python", _LIBRARY),
        Row("Seal, with a timestamp", "from paraph.pdf", "python", _LIBRARY),
        Row("Seal, with a timestamp", "import hashlib", "python", _LIBRARY),
        Row("Verify", "from paraph.pdf", "python", _LIBRARY),
        Row("Make a proof", "from paraph.pdf", "python", _LIBRARY),
        Row("Check that the service's files belong together", "from paraph.keys", "python", _LIBRARY),
    ),
    "docs/operating.md": (
        Row("Under systemd", "useradd", "shell", unless=f"{_MACHINE} tests/deploy/test_systemd.py tries the units."),
        Row("Under systemd", "systemd-run", "shell", unless=f"{_MACHINE} It takes a systemd that runs."),
        Row("In containers", "docker compose build", "shell", unless="It takes Docker, which makes the images first."),
        Row("In containers", "docker compose exec", "shell", unless="It takes Docker. tests/cli tries the commands."),
        Row("In Kubernetes", "kubectl", "shell", unless="It takes a cluster. tests/deploy tries the chart."),
        Row("In Kubernetes", "image:", "yaml", (_HELM,)),
        Row(
            "In Kubernetes",
            "serviceAccount:",
            "yaml",
            ("tests/deploy/test_helm_values.py::test_kubernetes_takes_it_with_what_most_clusters_want",),
        ),
        Row(
            "The page of operators",
            "paraph operator add",
            "shell",
            ("tests/cli/test_operator.py::test_operators_of_the_page_are_added_listed_and_removed",),
        ),
        Row(
            "Who did what",
            "paraph activity",
            "shell",
            ("tests/cli/test_operator.py::test_each_command_is_noted_with_the_name_of_whoever_gives_it",),
        ),
        Row(
            "How long data is kept",
            "paraph person show",
            "shell",
            ("tests/cli/test_operator.py::test_what_is_kept_of_a_person_is_shown_and_handed_over",),
        ),
        Row("Backups", "paraph backup --out /backups/paraph.backup\n", "shell", (_BACKUP,)),
        Row("Backups", "paraph backup --out /backups/paraph.backup --tried", "shell", (_BACKUP,)),
        Row("Backups", "paraph restore", "shell", (_BACKUP,)),
        Row(
            "Does the store hold what the database says?",
            "paraph verify-store",
            "shell",
            ("tests/cli/test_backup.py::test_a_backup_tells_which_objects_are_missing_or_changed",),
        ),
        Row(
            "To a PostgreSQL of your own, and back",
            "paraph export",
            "shell",
            ("tests/cli/test_own_database.py::test_a_database_moves_to_an_own_server_and_back",),
        ),
        Row("Back to a moment", "archive_mode", "postgresql", (*_MOMENT, _POSTGRESQL)),
        Row("Back to a moment", "pg_basebackup", "shell", _MOMENT),
        Row("Back to a moment", "restore_command", "postgresql", (*_MOMENT, _POSTGRESQL)),
        Row("Back to a moment", "mv ", "shell", _MOMENT),
        Row("High availability", "synchronous_standby_names", "postgresql", (_POSTGRESQL,)),
        Row("High availability", "DATABASE_URL=", "settings", (_SETTINGS,)),
        Row(
            "What a request takes in PostgreSQL",
            "ALTER TABLE",
            "sql",
            ("tests/plans/test_vacuum_advice.py::test_postgresql_takes_the_advice",),
        ),
        Row("Pool sizes", "web processes", "words", unless="A sum in words."),
        Row(
            "Pool sizes",
            "[databases]",
            "ini",
            ("tests/operations/test_poolers.py::test_sessions_are_told_from_shared_ones",),
        ),
    ),
    "docs/package.md": (Row("Paraph", "pip install", "shell", (_SERVE,)),),
    "docs/proxies.md": (
        Row("The proxy in front", "PARAPH_HOST", "settings", (_SETTINGS,)),
        Row("nginx", "worker_processes", "nginx", (_PROXIES, _FLOODS)),
        Row(
            "Two web servers behind nginx",
            "upstream",
            "nginx",
            (_HOSTS, "tests/attacks/test_two_upstreams.py::test_restarts_within_ten_seconds_refuse_nobody"),
        ),
        Row("HAProxy", "global", "haproxy", (_PROXIES, _FLOODS)),
        Row("Several hosts", "backend", "haproxy", (_HOSTS,)),
        Row("Caddy", "{", "caddy", (_PROXIES, _FLOODS)),
        Row("Kubernetes", "nginx.org/", "yaml", unless="It takes a cluster with F5's controller."),
        Row(
            "Kubernetes",
            "http-snippets",
            "yaml",
            ("tests/docs/test_proxy_configurations.py::test_nginx_takes_the_lines_for_the_controller",),
        ),
        Row("The packet filter", "table inet", "nftables", unless="It takes rights over the machine's network."),
    ),
    "docs/second-opinions.md": tuple(
        Row(heading, begins, "shell", _OPINIONS)
        for heading, begins in (
            ("Paraph", "paraph verify"),
            ("OpenSSL", "openssl cms"),
            ("pyHanko", "pyhanko sign"),
            ("poppler", "pdfsig"),
            ("MuPDF", "mutool"),
        )
    ),
    "docs/surroundings.md": (
        Row(
            "Another object store",
            "paraph storage copy",
            "shell",
            ("tests/cli/test_moving.py::test_files_move_under_load",),
        ),
        Row(
            "Another domain",
            "sign.example.com {",
            "caddy",
            ("tests/docs/test_proxy_configurations.py::test_caddy_redirects_another_domain",),
        ),
        Row("TLS to PostgreSQL", "DATABASE_URL=", "settings", (_SETTINGS,)),
        Row(
            "Certificates of an authority of your own",
            "cat ",
            "shell",
            unless="The folders are the machine's. tests/storage/test_bucket.py tries the variable.",
        ),
    ),
    "docs/transparency.md": (
        Row("Audit a log", "paraph log verify", "shell", _AUDIT),
        Row(
            "Look for one proof",
            "paraph verify",
            "shell",
            ("tests/cli/test_log.py::test_a_proof_is_looked_for_in_its_log",),
        ),
        Row(
            "Two organizations witness each other",
            "PARAPH_WITNESS_FOR",
            "text",
            ("tests/transparency/test_witnesses.py::test_a_log_asks_its_witness_over_http",),
        ),
        Row(
            "Two organizations witness each other",
            "log sign.example.com",
            "text",
            ("tests/transparency/test_notes.py::test_the_policy_of_the_docs_is_read",),
        ),
        Row(
            "For operators",
            "paraph log rebuild",
            "shell",
            ("tests/transparency/test_log.py::test_an_older_backup_beside_a_newer_store_is_refused_and_rebuilt",),
        ),
    ),
    "docs/verifying.md": (
        Row(
            "How to verify",
            "paraph verify",
            "shell",
            ("tests/cli/test_verify.py::test_a_proof_is_tied_to_its_files_in_any_order",),
        ),
        Row(
            "On a page of the service",
            "curl",
            "shell",
            ("tests/verify_page/test_page.py::test_curl_gets_the_verdict",),
        ),
        Row(
            "On a page of the service",
            "paraph verify",
            "shell",
            ("tests/cli/test_verify.py::test_roots_may_be_had_at_an_address",),
        ),
        Row(
            "All in one file",
            "paraph verify",
            "shell",
            ("tests/scenarios/test_main_job.py::test_operators_write_a_bundle_and_anybody_verifies_it",),
        ),
        Row(
            "Whom you trust",
            "paraph verify",
            "shell",
            ("tests/cli/test_verify.py::test_a_signer_may_be_demanded",),
        ),
        Row("Whether it held then", "paraph verify", "shell", ("tests/cli/test_verify.py::test_whether_it_held_then",)),
        Row(
            "Timestamps beside the files",
            "paraph verify",
            "shell",
            ("tests/scenarios/test_main_job.py::test_operators_export_the_timestamps_beside_the_files",),
        ),
    ),
    "docs/webhooks.md": (
        Row(
            "Webhooks",
            "paraph application create",
            "shell",
            ("tests/cli/test_operator.py::test_an_organization_and_its_keys_while_the_service_runs",),
        ),
        Row(
            "A delivery",
            "POST ",
            "http",
            ("tests/webhooks/test_payload.py::test_headers_and_signature_of_the_raw_body",),
        ),
        Row(
            "A delivery",
            "{",
            "json",
            ("tests/webhooks/test_payload.py::test_completion_links_to_every_document_in_order_and_to_the_proof",),
        ),
        Row("Verify before you parse", "import hashlib", "python", ("tests/webhooks/test_payload.py::test_python",)),
        Row("Verify before you parse", "const crypto", "javascript", ("tests/webhooks/test_payload.py::test_node",)),
        Row(
            "Catching up by events",
            "GET ",
            "http",
            ("tests/api/v1/test_list_events.py::test_the_example_of_the_page_is_what_is_answered",),
        ),
        Row(
            "Catching up by events",
            "{",
            "json",
            ("tests/api/v1/test_list_events.py::test_the_example_of_the_page_is_what_is_answered",),
        ),
        Row(
            "On your own machine",
            "pip install",
            "shell",
            ("tests/scenarios/test_listen.py::test_events_come_as_webhooks_in_order_and_none_is_lost",),
        ),
        Row(
            "For operators",
            "paraph webhook",
            "shell",
            ("tests/webhooks/test_replay.py::test_by_request_and_since_a_time",),
        ),
    ),
}
