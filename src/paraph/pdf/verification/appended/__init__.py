"""What was appended to a file after a trusted seal: read strictly, and refused unless an allow-list names it.

:mod:`.revision` reads one incremental update and repairs nothing; :mod:`.additions` decides what it may hold.
"""
