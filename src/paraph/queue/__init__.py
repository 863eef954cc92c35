"""The job queue: deferring jobs, the lanes and connections of workers, and what becomes of jobs that fail."""
