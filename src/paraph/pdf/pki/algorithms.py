"""The algorithms of CMS: which may be relied on until when."""

from paraph.keys.algorithms import weakness, weakness_of_key

__all__ = ["weakness", "weakness_of_key"]
