"""DOOR ``/app``, ``/account`` and ``/invitations``: what members see and do in a browser."""
