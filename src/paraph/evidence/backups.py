"""When the service was last backed up by ``paraph backup``. Copies made by other means are not known here."""

from datetime import datetime

from django.db.models import Max

from paraph.evidence.models import Backup


def note_backup(as_of: datetime, problems: int) -> None:
    """Note a backup whose file is whole. A copy of the database does not hold its own note."""
    Backup.objects.create(as_of=as_of, problems=problems)


def newest_sound() -> datetime | None:
    """Return the moment that the newest backup without problems holds; None where there is none."""
    newest: datetime | None = Backup.objects.filter(problems=0).aggregate(newest=Max("as_of"))["newest"]
    return newest
