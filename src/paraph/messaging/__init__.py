"""Sending e-mail and SMS, through a gateway or into the captured inbox. ``from paraph.messaging.email import
send_email``, ``from paraph.messaging.sms import send_sms``."""
