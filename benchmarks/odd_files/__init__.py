"""Odd PDFs of every class through a whole service, and what became of each.

    python -m benchmarks.odd_files [--count 1000] [--seed 1] [--clients 8]

A service of its own (embedded PostgreSQL, production application, so without a watermark), a mail server that hears
the codes, and clients in threads of this process. Each file is uploaded, stamped at a place on its first page, signed,
sealed and downloaded; then two renderers and ``paraph verify`` judge it against the pictures that the signing page
showed.
"""
