"""The whole URL map."""

from django.urls import URLPattern, URLResolver, path

from paraph.files.download import download
from paraph.signer.otp import otp
from paraph.signer.signature import signature

urlpatterns: list[URLPattern | URLResolver] = [
    path("files/<path:key>", download),
    path("sign/<str:token>/otp", otp),
    path("sign/<str:token>/signature", signature),
]
