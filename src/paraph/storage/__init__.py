"""Objects by key: put, get, open, delete, presign. ``from paraph.storage import store``."""
