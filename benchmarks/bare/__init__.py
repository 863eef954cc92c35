"""What the API is measured against: Django views that do the least that there is to do (benchmarks/api.py)."""
