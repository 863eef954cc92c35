"""The results of a completed request: sealed documents, the proof file, and the timestamps and statuses they need."""
