"""``/verify``: the public page that says whether signed files hold. It needs no account and keeps nothing."""
