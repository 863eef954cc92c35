"""The language of a page or of an answer."""

from django.http import HttpRequest

from paraph import words as catalog
from paraph.signature_requests.localized import accepted_locales
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.words import DEFAULT_LOCALE, LOCALES, Words


def choose(
    request: HttpRequest, signer: Signer | None, entered: object = "", *, found: SignatureRequest | None = None
) -> str:
    """Return the language that a form on the page was ``entered`` in, else ``?lang=``, else the signer's own, else the
    request's if its sender named one, else the first language of the browser in which there is a page, else English
    (docs/decisions/languages.md). ``found``: the signature request, where there is no signer."""
    asked, found = request.GET.get("lang", ""), signer.request if signer else found
    own = (signer and signer.locale) or (found.locale if found and found.locale_chosen else "")
    browser = accepted_locales(request.headers.get("Accept-Language", ""))
    return _first_known(entered, asked, own, *browser, found.locale if found else "")


def of_answer(request: HttpRequest, signer: Signer | None = None, entered: object = "") -> str:
    """Return the language of a JSON answer: the ``locale`` of the body, else ``?lang=``, else the first of
    ``Accept-Language`` in which there are words, else the one named for the signer, else the request's, else English. A
    program that calls for a signer says what it wants; a page says it in its body."""
    asked = (entered, request.GET.get("lang", ""), *accepted_locales(request.headers.get("Accept-Language", "")))
    return _first_known(*asked, *((signer.language, signer.request.locale) if signer else ()))


def _first_known(*locales: object) -> str:
    return next((str(locale) for locale in locales if locale in LOCALES), DEFAULT_LOCALE)


def words(locale: str, signer: Signer | None = None) -> Words:
    """Return everything a page says, by name; for an approver, in words about approving."""
    found = catalog.of("page", locale)
    return catalog.for_approvers(found) if signer and signer.is_approver else found
