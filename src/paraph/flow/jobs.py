"""The tasks of the job queue. Each calls one verb, whose docstring says why it is safe to repeat."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from procrastinate import BaseRetryStrategy, RetryDecision
from procrastinate.contrib.django import app
from procrastinate.jobs import Job

from paraph.account_mail.mail_account import mail_account
from paraph.flow.ending.end_early import end_requests_of_deleted
from paraph.flow.giving_up import report_last_attempt
from paraph.flow.housekeeping.delete_files import delete_due_files
from paraph.flow.housekeeping.sweep import sweep
from paraph.flow.housekeeping.unused_documents import delete_unused_uploads
from paraph.flow.messages.tell_decline import tell_contact_of_decline, tell_signer_of_decline
from paraph.flow.messages.tell_sender import tell_sender, warn_senders
from paraph.flow.sealing.certificate_statuses import refresh_statuses
from paraph.flow.sealing.finalize import finalize
from paraph.flow.sealing.mail_copies import mail_copies
from paraph.flow.sealing.notify_completion import notify_completion
from paraph.flow.sealing.preserve import preserve_due
from paraph.flow.sending.bulk_send import send_rows
from paraph.flow.sending.invite import invite
from paraph.flow.sending.remind import send_reminder
from paraph.flow.sending.remind_due import remind_due
from paraph.flow.signing.ask import forward_inquiry
from paraph.kernel import clock
from paraph.pdf.refusal import SealError
from paraph.queue.jobs import DEFAULT, MAIL, Reschedule, defer, logged
from paraph.tenants.usage import take_over_calls
from paraph.webhooks.prune import prune, prune_events


class Backoff(BaseRetryStrategy):
    """Try again after 2, 4, 8, … seconds, at most every 15 minutes, for about three days: longer than a gateway or a
    timestamp authority that fails over a weekend.

    A file that cannot be sealed is given up after 6 attempts (about two minutes), since waiting does not mend it;
    ``paraph request list --failed`` shows it with its cause. A job that is put off runs again at its time, however
    often.
    """

    attempts = 300
    attempts_to_seal = 6
    longest_wait = 900

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, Reschedule):
            return RetryDecision(retry_at=exception.next_at)
        attempts = self.attempts_to_seal if isinstance(exception, SealError) else self.attempts
        if job.attempts >= attempts:
            return None
        return RetryDecision(retry_in={"seconds": min(2 ** min(job.attempts + 1, 10), self.longest_wait)})


RETRY = Backoff()
_VERBS: dict[str, tuple[Callable[..., Any], str]] = {
    "invite": (invite, MAIL),
    "send_reminder": (send_reminder, MAIL),
    "notify_completion": (notify_completion, MAIL),
    "mail_copies": (mail_copies, MAIL),
    "forward_inquiry": (forward_inquiry, MAIL),
    "mail_account": (mail_account, MAIL),
    "tell_sender": (tell_sender, MAIL),
    "tell_contact_of_decline": (tell_contact_of_decline, MAIL),
    "tell_signer_of_decline": (tell_signer_of_decline, MAIL),
    "finalize": (finalize, DEFAULT),
    "send_rows": (send_rows, DEFAULT),
    "delete_unused_uploads": (delete_unused_uploads, DEFAULT),
}
for _name, (_verb, _lane) in _VERBS.items():
    _task = app.task(name=f"paraph.flow.jobs.{_name}", retry=RETRY, queue=_lane, task_middleware=[report_last_attempt])
    _task(logged(_name, _verb))


@app.periodic(cron="*/5 * * * *")
@app.task(queueing_lock="refresh_statuses")
def refresh_certificate_statuses(timestamp: int) -> None:  # noqa: ARG001  procrastinate passes the scheduled time
    refresh_statuses()


@app.periodic(cron="2-59/5 * * * *")
@app.task(queueing_lock="preserve")
def preserve_what_is_due(timestamp: int) -> None:  # noqa: ARG001  procrastinate passes the scheduled time
    preserve_due()


@app.periodic(cron="17 * * * *")
@app.task(queueing_lock="prune_webhooks")
def prune_webhooks(timestamp: int) -> None:  # noqa: ARG001  procrastinate passes the scheduled time
    prune(settings.PARAPH.webhook_retention_days, clock.now())
    prune_events(clock.now())


@app.periodic(cron="3-59/5 * * * *")
@app.task(queueing_lock="take_over_calls")
def take_over_calls_of_the_month(timestamp: int) -> None:  # noqa: ARG001  procrastinate passes the scheduled time
    take_over_calls()


@app.periodic(cron="41 3 * * *")
@app.task(queueing_lock="clear_sessions")
def clear_sessions(timestamp: int) -> None:  # noqa: ARG001  procrastinate passes the scheduled time
    SessionStore.clear_expired()


@app.periodic(cron="4-59/5 * * * *")
@app.task(queueing_lock="delete_files")
def delete_files_that_are_due(timestamp: int) -> None:  # noqa: ARG001  procrastinate passes the scheduled time
    end_requests_of_deleted(most=500)
    delete_due_files()


@app.periodic(cron="6-59/10 * * * *")
@app.task(queueing_lock="warn_senders")
def warn_senders_of_what_expires(timestamp: int) -> None:  # noqa: ARG001  procrastinate passes the scheduled time
    warn_senders()


@app.periodic(cron="8-59/10 * * * *")
@app.task(queueing_lock="remind_due")
def remind_who_is_due(timestamp: int) -> None:  # noqa: ARG001  procrastinate passes the scheduled time
    remind_due()


@app.periodic(cron="11 4 * * *")
@app.task(queueing_lock="delete_unused")
def delete_uploads_never_used(timestamp: int) -> None:  # noqa: ARG001  procrastinate passes the scheduled time
    defer("delete_unused_uploads", first=1)


@app.periodic(cron="41 3 * * *")
@app.task(queueing_lock="sweep")
def sweep_storage(timestamp: int) -> None:  # noqa: ARG001  procrastinate passes the scheduled time
    sweep()
