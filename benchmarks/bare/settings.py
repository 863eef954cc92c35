"""The database, the store and the server of the service; nothing between them and the views."""

from paraph.config.settings import *  # noqa: F403  the same in everything that is not named here
from paraph.config.settings import DATABASES

ROOT_URLCONF = "benchmarks.bare.views"
WSGI_APPLICATION = "benchmarks.bare.wsgi.application"
MIDDLEWARE = ["allauth.account.middleware.AccountMiddleware"]  # taken away again where requests are served
DATABASES["default"]["CONN_HEALTH_CHECKS"] = False
