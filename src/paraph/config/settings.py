"""Django settings, from :mod:`paraph.kernel.settings`. Operators set ``PARAPH_*`` variables, never this file."""

from pathlib import Path

import dj_database_url

from paraph.kernel import tokens
from paraph.kernel.master_key import read_master_key
from paraph.kernel.settings import read_settings
from paraph.postgres import embedded_url
from paraph.web.logs import logging_settings

PARAPH = read_settings()
DATA_DIR: Path = PARAPH.data_dir.absolute()
MASTER_KEY: bytes = read_master_key(DATA_DIR, PARAPH.secret_key)

SECRET_KEY = tokens.derive(MASTER_KEY, "django").hex()
DEBUG = False
ALLOWED_HOSTS = ["*"]  # URLs are built from PARAPH_BASE_URL, never from the Host header
ROOT_URLCONF = "paraph.config.urls"
WSGI_APPLICATION = "paraph.web.wsgi.application"
APPEND_SLASH = False

INSTALLED_APPS = [
    "django.contrib.staticfiles",
    "procrastinate.contrib.django",
    "paraph.organizations",
    "paraph.documents",
    "paraph.signature_requests",
    "paraph.journal",
    "paraph.otp",
    "paraph.evidence",
    "paraph.webhooks",
    "paraph.messaging",
    "paraph.flow",
    "paraph.signer",
    "paraph.reference",
    "paraph.api",  # for its catalogs of messages
]

MIDDLEWARE = [
    "paraph.web.strict_transport.StrictTransport",
    "paraph.web.request_log.RequestLog",
    "paraph.web.header_names.HeaderNames",
    "paraph.web.outgoing_body.OutgoingBodies",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "paraph.web.language.Language",
    "paraph.web.outage.Outage",
    "paraph.signer.outage.SignerOutage",
]

DATABASES = {
    "default": dj_database_url.parse(
        PARAPH.database_url or embedded_url(DATA_DIR, PARAPH.postgres_dir),
        engine="paraph.database",
        conn_max_age=None,  # threads are long-lived, and so are their connections
        conn_health_checks=True,
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = True
LANGUAGE_CODE = "en"
LANGUAGES = [
    ("en", "English"),
    ("fr", "Français"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("it", "Italiano"),
    ("pt", "Português"),
    ("nl", "Nederlands"),
]

TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True  # straight from the package: nothing to collect at deployment
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024  # of what stands beside the file of an upload; JSON has its own limits

PROCRASTINATE_AUTODISCOVER_MODULE_NAME = "jobs"

LOGGING = logging_settings(PARAPH.log_level)

ANYMAIL = PARAPH.mail_provider_settings
