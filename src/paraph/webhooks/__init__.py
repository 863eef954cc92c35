"""Webhooks and callbacks (specification 6.1, 6.4): what is told to whom, when, and how often it was tried.

Verbs write with :mod:`paraph.webhooks.outbox`; worker processes send with :mod:`paraph.webhooks.dispatcher`.
"""
