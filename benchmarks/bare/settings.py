"""The database, the store and the server of the service; nothing between them and the views."""

from paraph.config.settings import *  # noqa: F403  the same in everything that is not named here
from paraph.config.settings import DATABASES, INSTALLED_APPS

_ACCOUNTS = ("allauth", "paraph.dashboard")  # which want a middleware

ROOT_URLCONF = "benchmarks.bare.views"
WSGI_APPLICATION = "benchmarks.bare.wsgi.application"
INSTALLED_APPS = [app for app in INSTALLED_APPS if not app.startswith(_ACCOUNTS)]
MIDDLEWARE = []
DATABASES["default"]["CONN_HEALTH_CHECKS"] = False
