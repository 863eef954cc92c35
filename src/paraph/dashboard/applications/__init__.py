"""``/app/{o}/applications``: what calls the API, its keys, and what its webhooks delivered."""
