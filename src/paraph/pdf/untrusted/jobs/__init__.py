"""The code that parses untrusted files. It runs only inside a sandboxed process (:mod:`paraph.pdf.untrusted.sandbox`).

A ``*_job.py`` answers one kind of call; ``worker.py`` is the process itself.
"""
