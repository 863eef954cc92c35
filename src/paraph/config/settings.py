"""Django settings, from :mod:`paraph.kernel.settings`. Operators set ``PARAPH_*`` variables, never this file."""

from pathlib import Path

import dj_database_url

from paraph.kernel import tokens
from paraph.kernel.secrets import Secrets, earlier_master_keys, read_master_key
from paraph.kernel.settings import read_settings
from paraph.postgres import embedded_url
from paraph.server.logs import logging_settings

PARAPH = read_settings()
DATA_DIR: Path = PARAPH.data_dir.absolute()


def _fingerprint_in_use() -> bytes | None:
    from paraph.tenants.installation import fingerprint_in_use  # noqa: PLC0415  its table needs the settings

    return fingerprint_in_use()


_EARLIER_SECRETS = earlier_master_keys(DATA_DIR, PARAPH.secret_key_previous)
SECRETS = Secrets(read_master_key(DATA_DIR, PARAPH.secret_key), _EARLIER_SECRETS, _fingerprint_in_use)

SECRET_KEY = tokens.derive(SECRETS.newest, "django").hex()
SECRET_KEY_FALLBACKS = [tokens.derive(secret, "django").hex() for secret in _EARLIER_SECRETS]
DEBUG = False
ALLOWED_HOSTS = ["*"]  # URLs are built from PARAPH_BASE_URL, never from the Host header
ROOT_URLCONF = "paraph.config.urls"
WSGI_APPLICATION = "paraph.server.wsgi.application"
APPEND_SLASH = False

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "paraph.dashboard",  # before allauth, whose templates it replaces
    "paraph.dashboard.account",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "django_htmx",
    "procrastinate.contrib.django",
    "paraph.counts",
    "paraph.tenants",
    "paraph.idempotency",
    "paraph.documents",
    "paraph.signature_requests",
    "paraph.drafts",
    "paraph.request_templates",
    "paraph.audit_trail",
    "paraph.otp",
    "paraph.evidence",
    "paraph.transparency",
    "paraph.webhooks",
    "paraph.messaging",
    "paraph.queue",  # for its index
    "paraph.flow",
    "paraph.signer",
    "paraph.reference",
    "paraph.verify_page",
    "paraph.api",  # for its catalogs of messages
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "paraph.server.middleware.RequestLog",
    "paraph.server.middleware.HeaderNames",
    "paraph.server.middleware.OutgoingBodies",
    "paraph.server.middleware.Language",
    "paraph.server.middleware.Outage",
    "paraph.signer.notice.SignerOutage",
    "paraph.server.middleware.DashboardMiddleware",
    "allauth.account.middleware.AccountMiddleware",  # allauth wants it in this list
]
DASHBOARD_PREFIXES = ("/app/", "/account/", "/invitations/", "/operator")
DASHBOARD_MIDDLEWARE = [
    "paraph.dashboard.middleware.Headers",
    "paraph.dashboard.middleware.DashboardOutage",
    "paraph.dashboard.middleware.FormAnswers",
    "paraph.dashboard.account.sessions.Sessions",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "paraph.dashboard.middleware.AccountLanguage",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.usersessions.middleware.UserSessionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

# A year, sent if the base URL is https. Without includeSubDomains: other hosts of the domain are not ours to rule.
SECURE_HSTS_SECONDS = 31_536_000

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
FORMAT_MODULE_PATH = "paraph.config.formats"
LANGUAGES = [
    ("en", "English"),
    ("fr", "Français"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("it", "Italiano"),
    ("pt", "Português"),
    ("nl", "Nederlands"),
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
STATIC_URL = "/static/"
STORAGES = {"staticfiles": {"BACKEND": "paraph.server.static_files.StaticFiles"}}
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024  # for the fields beside the file of an upload; JSON has its own limits
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000  # inputs of a form: a thousand fields in the editor have 16 each

FILE_UPLOAD_HANDLERS = ["paraph.server.bodies.NoFiles"]

PROCRASTINATE_AUTODISCOVER_MODULE_NAME = "jobs"

LOGGING = logging_settings(PARAPH.log_level)

ANYMAIL = PARAPH.mail_provider_settings

_SECURE = PARAPH.public_url.startswith("https://")
_PREFIX = "__Host-" if _SECURE else ""  # browsers accept this prefix over HTTPS only
AUTH_USER_MODEL = "organizations.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "/account/login/"
LOGIN_REDIRECT_URL = "/app/"
SESSION_ENGINE = "paraph.dashboard.account.sessions"
SESSION_COOKIE_NAME = f"{_PREFIX}session"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _SECURE
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_NAME = f"{_PREFIX}csrf"
CSRF_TRUSTED_ORIGINS = [PARAPH.public_url]
CSRF_FAILURE_VIEW = "paraph.dashboard.middleware.forged"
FORM_RENDERER = "paraph.dashboard.decorators.FormRenderer"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "members_cache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},  # beyond it, counts are dropped; a flood of addresses could exploit that
    }
}

ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_ADAPTER = "paraph.dashboard.account.adapter.AccountAdapter"
ACCOUNT_FORMS = {"signup": "paraph.dashboard.account.adapter.SignUpForm"}
ACCOUNT_EMAIL_VERIFICATION = "mandatory"  # else a stranger could hold the address that an invitation goes to
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # no mail to addresses without an account
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_CHANGE_EMAIL = True  # an account has one address; a new one counts once it is confirmed
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if _SECURE else "http"
ACCOUNT_LOGOUT_REDIRECT_URL = LOGIN_URL
ACCOUNT_RATE_LIMITS = {
    "signup": "5/m/ip,30/h/ip",
    "reset_password": "5/m/ip,30/h/ip,5/h/key",
    "login_failed": "10/m/ip,5/5m/key",
}
PASSWORD_RESET_TIMEOUT = 3600  # seconds, also for the link that ``paraph member create`` prints
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300  # seconds
ACCOUNT_REAUTHENTICATION_REQUIRED = True  # also to change the password or the address
USERSESSIONS_TRACK_ACTIVITY = True
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ADAPTER = "paraph.dashboard.account.adapter.SecondFactorAdapter"
MFA_TOTP_ISSUER = "Paraph"

if PARAPH.sso_issuer:
    INSTALLED_APPS += ["allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"]
    SOCIALACCOUNT_ADAPTER = "paraph.dashboard.account.single_sign_on.SingleSignOnAdapter"
    SOCIALACCOUNT_LOGIN_ON_GET = True  # a form that the provider's redirect follows would break the pages' policy
    SOCIALACCOUNT_EMAIL_AUTHENTICATION = True  # an address that the provider vouches for logs in to its account
    SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
    SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "provider_class": "paraph.dashboard.account.single_sign_on.StrictProvider",
            "OAUTH_PKCE_ENABLED": True,
            "APPS": [
                {
                    "provider_id": "sso",
                    "name": PARAPH.sso_name,
                    "client_id": PARAPH.sso_client_id,
                    "secret": PARAPH.sso_client_secret,
                    "settings": {"server_url": PARAPH.sso_issuer},
                }
            ],
        }
    }
