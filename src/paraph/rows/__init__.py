"""Rows written and read by statements that are put together once: where every flow passes, Django's own way of
compiling a query anew costs several times what PostgreSQL takes to answer it."""
