"""allauth's OpenID Connect provider, stricter about what it is told. Needs the extra ``paraph[sso]``."""
