"""The addresses of the dashboard, below ``/app/``."""

from django.urls import URLPattern, URLResolver, path

from paraph.dashboard.home import home, organizations
from paraph.dashboard.new_organization import new_organization

urlpatterns: list[URLPattern | URLResolver] = [
    path("", organizations, name="organizations"),
    path("new", new_organization, name="new_organization"),
    path("<int:organization_id>/", home, name="home"),
]
