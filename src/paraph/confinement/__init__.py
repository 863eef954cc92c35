"""What a process gives up before it reads hostile bytes: network, files, programs, other processes. No Django.

``confine`` takes every measure that the kernel offers, each by itself, and says which those were.
"""

from paraph.confinement.confine import confine
from paraph.confinement.report import MEASURES, Confinement

__all__ = ["MEASURES", "Confinement", "confine"]
