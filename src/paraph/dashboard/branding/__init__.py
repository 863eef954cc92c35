"""``/app/{o}/branding``: the colours of signing pages."""
