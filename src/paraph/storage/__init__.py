"""Storing objects by key, in a local folder or a bucket. Callers use :mod:`paraph.storage.store`."""
