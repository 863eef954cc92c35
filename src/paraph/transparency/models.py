"""The log as it stands in the database: entries, the hashes of full tiles, checkpoints, and what was cosigned."""

from django.db import models

from paraph.kernel import clock


class LogKey(models.Model):
    """The one row that says which log this is. ``origin`` is its name, which stays whatever becomes of the base URL.
    ``private_encrypted`` is its key (Ed25519), null where ``PARAPH_LOG_KEY`` has it."""

    id = models.SmallIntegerField(primary_key=True)
    origin = models.CharField(max_length=300)
    private_encrypted = models.BinaryField(null=True)


class LogEntry(models.Model):
    """An entry is the SHA-256 of a proof file. Rows are never changed, and stay when the proof's file is deleted."""

    index = models.BigIntegerField(primary_key=True)
    sha256 = models.BinaryField()


class LogNode(models.Model):
    """A hash of a level of tiles above the leaves: the root of the full tile of this index at the level below."""

    pk = models.CompositePrimaryKey("level", "index")
    level = models.SmallIntegerField()
    index = models.BigIntegerField()
    hash = models.BinaryField()


class Checkpoint(models.Model):
    """A signed statement of size and root. ``published_at`` is null until the store has it and witnesses were asked.
    ``note`` has the log's own signature first, and then those of witnesses. ``token``: an RFC 3161 token over the
    note without cosignatures; null where there is none."""

    size = models.BigIntegerField(primary_key=True)
    note = models.TextField()
    created_at = models.DateTimeField(default=clock.now)
    published_at = models.DateTimeField(null=True)
    token = models.BinaryField(null=True)

    class Meta:
        indexes = (models.Index(fields=["size"], condition=models.Q(token__isnull=False), name="stamped_checkpoint"),)


class Cosigned(models.Model):
    """The newest checkpoint of another installation's log that this one cosigned as a witness."""

    origin = models.CharField(max_length=300, primary_key=True)
    size = models.BigIntegerField()
    root = models.BinaryField()
