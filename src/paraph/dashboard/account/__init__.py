"""``/account``: the account of a person, by django-allauth in the dashboard's look."""
