"""The job queue: deferring jobs, the queues and connections of workers, and what becomes of jobs that fail."""
