"""The tasks of the job queue. Each calls one verb, which says what it does and why repeating it is safe."""

from django.conf import settings
from procrastinate import BaseRetryStrategy, RetryDecision
from procrastinate.contrib.django import app
from procrastinate.jobs import Job

from paraph.flow import invite as inviting
from paraph.flow import notify_completion as notifying
from paraph.flow import prove as proving
from paraph.flow import publish as publishing
from paraph.flow import seal as sealing
from paraph.flow.expire import expire as expire_one
from paraph.flow.expire import expire_due
from paraph.kernel import clock
from paraph.webhooks.prune import prune


class Backoff(BaseRetryStrategy):
    """Again after 2, 4, 8, … seconds, at most every 15 minutes, for about three days: an outage of a gateway or a
    timestamp authority over a weekend ends by itself."""

    attempts = 300
    longest = 900

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:  # noqa: ARG002  the form of the library
        if job.attempts >= self.attempts:
            return None
        return RetryDecision(retry_in={"seconds": min(2 ** min(job.attempts + 1, 10), self.longest)})


RETRY = Backoff()


@app.task(retry=RETRY)
def invite(signer_id: int) -> None:
    inviting.invite(signer_id)


@app.task(retry=RETRY)
def notify_completion(request_id: int) -> None:
    notifying.notify_completion(request_id)


@app.task(retry=RETRY)
def seal(request_document_id: int) -> None:
    sealing.seal(request_document_id)


@app.task(retry=RETRY)
def prove(request_id: int) -> None:
    proving.prove(request_id)


@app.task(retry=RETRY)
def publish(request_id: int) -> None:
    publishing.publish(request_id)


@app.task(retry=RETRY)
def expire(request_id: int) -> None:
    expire_one(request_id)


@app.periodic(cron="* * * * * */3")  # the sixth field counts seconds: due within 5 s (specification 3.1)
@app.task(queueing_lock="expire_due")
def expire_everything_due(timestamp: int) -> None:  # noqa: ARG001  the time the queue meant it for
    expire_due()


@app.periodic(cron="17 * * * *")
@app.task(queueing_lock="prune_webhooks")
def prune_webhooks(timestamp: int) -> None:  # noqa: ARG001  the time the queue meant it for
    prune(settings.PARAPH.webhook_retention_days, clock.now())
