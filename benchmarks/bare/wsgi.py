"""Django's own application, without any middleware: allauth wants its own named only while applications are loaded."""

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler

django.setup(set_prefix=False)
settings.MIDDLEWARE = []
application = WSGIHandler()
