"""The tasks of the job queue. Each calls one verb, whose docstring says why it is safe to repeat."""

from collections.abc import Callable, Mapping
from typing import Any

import structlog
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db import Error as DatabaseError
from procrastinate import BaseRetryStrategy, RetryDecision
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.job_context import JobContext
from procrastinate.jobs import Job
from procrastinate.worker import Worker

from paraph.account_mail.mail_account import mail_account
from paraph.evidence.failures import cause_of, note
from paraph.flow.ending import end_requests_of_deleted
from paraph.flow.housekeeping.retention import delete_due_files
from paraph.flow.housekeeping.sweep import delete_unused_uploads, sweep, sweep_store
from paraph.flow.messages.copies import mail_copies, notify_completion
from paraph.flow.messages.notices import tell_sender, tell_signer_of_end, warn_senders
from paraph.flow.messages.sent_once import MOST_ATTEMPTS_AT_RECIPIENT
from paraph.flow.personal_data.erase import forget_due_people, forget_fixed_people
from paraph.flow.sealing.context import refresh_statuses
from paraph.flow.sealing.finalize import finalize
from paraph.flow.sealing.preserve import keep_log, preserve_due
from paraph.flow.sending.invite import invite, remind_due, send_reminder
from paraph.flow.sending.templates import send_rows
from paraph.flow.signing.decline_or_ask import forward_inquiry
from paraph.kernel import clock
from paraph.kernel.errors import RecipientRefusedError
from paraph.pdf.refusal import SealError
from paraph.queue.jobs import ATTEMPT, DEFAULT, MAIL, TRACE, Reschedule, defer, defer_last, is_live, logged
from paraph.queue.stalled_jobs import living_workers
from paraph.signature_requests.models import RequestDocument, Signer
from paraph.tenants.lifecycle import log_forgotten
from paraph.tenants.usage import take_over_calls
from paraph.webhooks.all_deliveries import prune
from paraph.webhooks.event_log import prune_events

_log = structlog.get_logger("paraph.job")


class Backoff(BaseRetryStrategy):
    """Try again after 2, 4, 8, … seconds, at most every 15 minutes, for about three days: longer than a gateway or a
    timestamp authority that fails over a weekend.

    Mails wait longer in the end: an hour where the mail server takes none, four hours where it is this recipient that
    it refuses for now. A file that cannot be sealed is given up after 6 attempts (about two minutes), since waiting
    does not mend it; ``paraph request list --failed`` shows it with its cause. A job that is put off runs again at its
    time, however often.
    """

    attempts, longest_wait = 300, 900
    mail_attempts, longest_wait_of_mails = 82, 3600
    longest_wait_for_recipient = 4 * 3600
    attempts_to_seal = 6

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, Reschedule):
            return RetryDecision(retry_at=exception.next_at)
        attempts, longest = self._bounds(exception, job)
        if job.attempts >= attempts:
            return None
        return RetryDecision(retry_in={"seconds": min(2 ** min(job.attempts + 1, 14), longest)})

    def _bounds(self, exception: BaseException, job: Job) -> tuple[int, int]:
        if isinstance(exception, RecipientRefusedError):
            return MOST_ATTEMPTS_AT_RECIPIENT, self.longest_wait_for_recipient
        if isinstance(exception, OSError) and job.queue == MAIL:
            return self.mail_attempts, self.longest_wait_of_mails
        return self.attempts_to_seal if isinstance(exception, SealError) else self.attempts, self.longest_wait


RETRY = Backoff()


def report_last_attempt(run: Callable[[], Any], context: JobContext, _worker: Worker) -> Any:
    """Run an attempt, which reads its number in ``ATTEMPT``, as task middleware of procrastinate, and report the job if
    this was its last. The retry strategy is asked here and again by the worker, which then records its decision."""
    job = context.job
    ATTEMPT.set(job.attempts + 1)
    try:
        return run()
    except Exception as error:
        if context.task and context.task.get_retry_exception(exception=error, job=job) is None:
            _report(job.task_name, job.task_kwargs, job.attempts + 1, error)
        raise


def give_up(job: ProcrastinateJob, error: Exception) -> None:
    """Report a job that is given up because of what happened to its workers, and note the cause with the signature
    request that waits for it."""
    request_id = _request_id(job.args)
    if request_id is not None and job.task_name.endswith(".finalize"):
        note(request_id, "seal", error)
    _report(job.task_name, job.args, job.attempts + 1, error)


def _report(task_name: str, arguments: Mapping[str, Any], attempts: int, error: Exception) -> None:
    task = task_name.rpartition(".")[2]
    fields = {"task": task, "signature_request": _request_id(arguments), "attempts": attempts}
    # Errors of this task name files, keys and storage only; those of mail servers quote addresses.
    fields["cause"] = cause_of(error) if task == "finalize" else type(error).__name__
    trace = arguments.get(TRACE)
    with structlog.contextvars.bound_contextvars(**({"request_id": trace} if trace else {})):
        _log.error("job gave up", **fields)


def _request_id(arguments: Mapping[str, Any]) -> int | None:
    """Return the id of the signature request that the job is for; None if it is unknown or the database is away."""
    if "request_id" in arguments:
        return int(arguments["request_id"])
    try:
        if "signer_id" in arguments:
            return Signer.objects.filter(pk=arguments["signer_id"]).values_list("request_id", flat=True).first()
        rows = RequestDocument.objects.filter(pk=arguments.get("request_document_id", 0))
        return rows.values_list("request_id", flat=True).first()
    except DatabaseError:
        return None


_DUE = (preserve_due, delete_due_files, forget_due_people)


def do_what_is_due(part: int) -> None:
    """Do, for a few seconds of each kind, work that no request waits for: late and renewed timestamps, deletions,
    people to be forgotten. While there is more to do, another job takes the place of this one.

    The first ``part`` adds others, up to half of the places of all workers; jobs that somebody waits for come first. So
    seals find a place, whatever is due. A kind that fails holds up no other. Safe to repeat, to be killed and to run
    several times at once, as each kind is.
    """
    done = sum([_done(verb) for verb in _DUE])
    if not done:
        return
    defer_last("do_what_is_due", part=part)
    places = living_workers() * settings.PARAPH.worker_concurrency
    for other in range(1, places // 2 if part == 0 else 0):
        if not is_live("do_what_is_due", part=other):
            defer_last("do_what_is_due", part=other)


def _done(verb: Callable[[], int]) -> int:
    try:
        return verb()
    except Exception:  # noqa: BLE001  of any kind
        _log.exception("what is due fails", kind=verb.__name__)
        return 0


def _begin_what_is_due() -> None:
    end_requests_of_deleted(most=500)
    if not is_live("do_what_is_due"):
        log_forgotten()
    if not is_live("do_what_is_due", part=0):
        defer_last("do_what_is_due", part=0)


_VERBS: dict[str, tuple[Callable[..., Any], ...]] = {
    MAIL: (
        invite,
        send_reminder,
        notify_completion,
        mail_copies,
        forward_inquiry,
        mail_account,
        tell_sender,
        tell_signer_of_end,
    ),
    DEFAULT: (finalize, send_rows, delete_unused_uploads, do_what_is_due, sweep_store),
}
for _lane, _verbs in _VERBS.items():
    for _verb in _verbs:
        _name = _verb.__name__
        _task = app.task(
            name=f"paraph.flow.jobs.{_name}", retry=RETRY, queue=_lane, task_middleware=[report_last_attempt]
        )
        _task(logged(_name, _verb))


def _prune_webhooks() -> None:
    prune(settings.PARAPH.webhook_retention_days, clock.now())
    prune_events(clock.now())


_PERIODIC: tuple[tuple[str, str, Callable[[], object]], ...] = (
    ("refresh_certificate_statuses", "*/5 * * * *", refresh_statuses),
    ("keep_transparency_log", "* * * * *", keep_log),
    ("prune_webhooks", "17 * * * *", _prune_webhooks),
    ("take_over_calls_of_the_month", "3-59/5 * * * *", take_over_calls),
    ("clear_sessions", "41 3 * * *", SessionStore.clear_expired),
    ("begin_what_is_due", "*/5 * * * *", _begin_what_is_due),
    ("warn_senders_of_what_expires", "6-59/10 * * * *", warn_senders),
    ("remind_who_is_due", "8-59/10 * * * *", remind_due),
    ("delete_uploads_never_used", "11 4 * * *", lambda: defer("delete_unused_uploads", first=1)),
    ("sweep_storage", "41 3 * * *", sweep),
    ("forget_fixed_people", "13 4 * * *", forget_fixed_people),
)
"""Tasks by the clock: name, when, and the verb. At most one job of each waits."""


def _by_the_clock(verb: Callable[[], object]) -> Callable[[int], None]:
    def run(timestamp: int) -> None:  # noqa: ARG001  procrastinate passes the scheduled time
        verb()

    return run


for _name, _cron, _verb in _PERIODIC:
    _periodic = app.task(name=f"paraph.flow.jobs.{_name}", queueing_lock=_name)(_by_the_clock(_verb))
    app.periodic(cron=_cron)(_periodic)
