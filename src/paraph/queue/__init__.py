"""The job queue: deferring jobs, the queues and connections of workers, and the handling of jobs that fail."""
