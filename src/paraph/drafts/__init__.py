"""Signature requests in the making: what members prepare in the dashboard, saved at each step."""
