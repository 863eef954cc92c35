"""``GET …/logo.png``: the logo of the request's branding profile."""

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from paraph.kernel.errors import DomainError
from paraph.signature_requests.translated_refusal import translated
from paraph.signer import answers, language
from paraph.signer.authentication import found
from paraph.tenants.logos import logo_picture

_METHODS = ["GET", "HEAD"]
_KEPT_SECONDS = 86_400  # another logo has another address


def logo(request: HttpRequest, token: str) -> HttpResponse:
    """PNG, for whoever has a signing link, whatever has become of the request."""
    if request.method not in _METHODS:
        return HttpResponseNotAllowed(_METHODS)
    try:
        picture = logo_picture(found(token).request.branding_profile)
        if picture is None:
            raise translated("not_found", "link_unknown")
    except DomainError as error:
        return answers.refusal(error, language.of_answer(request))
    response = answers.private(HttpResponse(picture.png, content_type="image/png"))
    response["Cache-Control"] = f"private, max-age={_KEPT_SECONDS}"
    return response
