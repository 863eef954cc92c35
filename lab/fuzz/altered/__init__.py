"""Files altered after they were sealed, by somebody without the key: ``paraph verify`` must never call them valid.

:mod:`~lab.fuzz.altered.recipes` makes them: from a genuine file (:mod:`~lab.fuzz.altered.genuine`), by one or two
freedoms that whoever appends a revision has (one module for each class of them), under a signature or timestamp that
anybody can get (:mod:`~lab.fuzz.altered.covers`). The same recipe makes the same bytes in every process.
:mod:`~lab.fuzz.altered.judge` decides, :mod:`~lab.fuzz.altered.legitimate` holds what must stay valid.
"""
