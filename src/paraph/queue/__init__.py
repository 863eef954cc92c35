"""The job queue: how work is asked for, on which connections workers fetch it, and what becomes of jobs that fail."""
