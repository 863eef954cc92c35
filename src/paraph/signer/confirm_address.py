"""``/confirm/{token}``: whether messages of an organization's sandbox may go to the address that got the link."""

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page

from paraph.signer.notice import notice
from paraph.signer.shell import show
from paraph.tenants import confirmed_addresses


@csrf_exempt
@gzip_page
def confirm_address(request: HttpRequest, token: str) -> HttpResponse:
    """Ask on GET, confirm on POST: programs that open every link in a mail confirm nothing. Exempt from the CSRF
    cookie: the secret in the address is all permission there is."""
    if request.method not in ("GET", "HEAD", "POST"):
        return HttpResponseNotAllowed(["GET", "HEAD", "POST"])
    row = confirmed_addresses.find(token)
    if row is None:
        return notice(request, "not_found", status=404)
    if request.method == "POST":
        confirmed_addresses.confirm(row)
    done = request.method == "POST" or row.confirmed_at is not None
    facts = {"state": "confirmed" if done else "confirm", "sender": row.organization.name, "address": row.address}
    return show(request, "signer/confirm.html", facts, frame_ancestors="'none'")
