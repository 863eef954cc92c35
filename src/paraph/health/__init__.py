"""``/healthz``, ``/readyz`` and ``/metrics``: what supervisors, load balancers and Prometheus ask."""
