"""The whole URL map."""

from django.urls import URLPattern, URLResolver, path

from paraph.files.download import download

urlpatterns: list[URLPattern | URLResolver] = [
    path("files/<path:key>", download),
]
