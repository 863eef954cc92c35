"""Confinement of a process that reads hostile bytes: no network, files, programs or other processes. No Django.

``confine`` takes every measure that the kernel offers, independently of the others, and reports which are missing.
"""

from paraph.confinement.confine import MEASURES, Confinement, confine

__all__ = ["MEASURES", "Confinement", "confine"]
