"""E-mail and SMS, through a gateway or into the captured inbox."""
