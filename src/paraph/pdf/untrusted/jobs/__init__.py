"""The code that parses untrusted files. It runs only inside a sandboxed process (:mod:`paraph.pdf.untrusted.sandbox`).

Each ``*_job.py`` answers one kind of call; each ``*worker.py`` is the program of a process, served by ``serving.py``.
"""
