"""Webhooks and callbacks (rules 6.1, 6.4): recording, sending, retrying and replaying deliveries.

Verbs record with :mod:`paraph.webhooks.outbox`, worker processes send with :mod:`paraph.webhooks.dispatcher`.
"""
