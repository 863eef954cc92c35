"""Mails and text messages: their words, their limits, and that each goes out once."""
