"""Every PDF of a folder through upload check, stamp, watermark, seal, self-check and the judgement of others.

    python -m benchmarks.corpus DIR [--processes 2] [--keep DIR]

Each file is judged in a process of its own kind: a crash or a hang is a line of the table, not the end of the run.
"""
