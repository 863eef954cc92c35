"""The whole URL map."""

from django.urls import URLPattern, URLResolver, path, re_path

from paraph.api.v1.door import ROUTE, door
from paraph.authority import views as authority
from paraph.files.download import download
from paraph.reference.page import page as reference
from paraph.signer.confirm_address import confirm_address
from paraph.signer.otp import otp
from paraph.signer.page import page
from paraph.signer.page_image import page_image
from paraph.signer.signature import signature
from paraph.web.health import healthz, readyz
from paraph.web.metrics import metrics

urlpatterns: list[URLPattern | URLResolver] = [
    re_path(ROUTE, door),
    path("authority/ocsp", authority.status),
    path("authority/revocations.crl", authority.revocations),
    path("authority/root.crt", authority.root),
    path("authority/timestamps", authority.timestamp),
    path("confirm/<str:token>", confirm_address),
    path("healthz", healthz),
    path("metrics", metrics),
    path("readyz", readyz),
    re_path("^docs/?$", reference),
    path("files/<path:key>", download),
    path("sign/<str:token>", page),
    path("sign/<str:token>/documents/<int:document_id>/pages/<int:number>.webp", page_image),
    path(
        "sign/<str:token>/documents/<int:document_id>/pages/<int:number>-print.webp",
        page_image,
        {"printed": True},
    ),
    path("sign/<str:token>/otp", otp),
    path("sign/<str:token>/signature", signature),
]
