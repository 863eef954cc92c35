"""The addresses of the dashboard, below ``/app/``."""

from django.urls import URLPattern, URLResolver, path

from paraph.dashboard.home import home, organizations

urlpatterns: list[URLPattern | URLResolver] = [
    path("", organizations, name="organizations"),
    path("<int:organization_id>/", home, name="home"),
]
