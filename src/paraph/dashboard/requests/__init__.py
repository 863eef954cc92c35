"""``/app/{o}/requests``: the organization's signature requests, and everything about one."""
