"""The whole URL map."""

from django.urls import URLPattern, URLResolver, path, re_path

from paraph.api.v1.door import ROUTE, door
from paraph.authority import views as authority
from paraph.config.health import healthz, readyz
from paraph.config.metrics import metrics
from paraph.files.download import download
from paraph.reference.page import page as reference
from paraph.signer.confirm_address import confirm_address
from paraph.signer.download import copy as download_copy
from paraph.signer.download import proof as download_proof
from paraph.signer.download import unsigned as download_unsigned
from paraph.signer.otp import otp
from paraph.signer.page import page
from paraph.signer.page_image import page_image
from paraph.signer.page_text import document_text, page_text
from paraph.signer.progress import progress_view
from paraph.signer.signature import signature
from paraph.signer.stamp_picture import drawn_stamp, typed_stamp

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
    path("sign/<str:token>/documents/<int:document_id>.pdf", download_unsigned),
    path("sign/<str:token>/documents/<int:document_id>/copy.pdf", download_copy),
    path("sign/<str:token>/documents/<int:document_id>/text", document_text),
    path("sign/<str:token>/documents/<int:document_id>/pages/<int:number>.webp", page_image),
    path("sign/<str:token>/documents/<int:document_id>/pages/<int:number>-<int:zoom>.webp", page_image),
    path("sign/<str:token>/documents/<int:document_id>/pages/<int:number>/text", page_text),
    path(
        "sign/<str:token>/documents/<int:document_id>/pages/<int:number>-print.webp",
        page_image,
        {"printed": True},
    ),
    path("sign/<str:token>/otp", otp),
    path("sign/<str:token>/progress", progress_view),
    path("sign/<str:token>/proof.pdf", download_proof),
    path("sign/<str:token>/signature", signature),
    path("sign/<str:token>/stamp", drawn_stamp),
    path("sign/<str:token>/stamp.svg", typed_stamp),
]
