"""The applications that a member sees: those of both environments."""

from django.db.models import QuerySet
from django.http import Http404

from paraph.dashboard.decorators import scope
from paraph.tenants.models import ApiKey, Application, Environment, Member
from paraph.tenants.scope import scoped


def applications_of(member: Member) -> QuerySet[Application]:
    sandbox, production = (scoped(Application, scope(member, environment)) for environment in Environment)
    return sandbox | production


def application_of(member: Member, application_id: int) -> Application:
    """Return the application. Raise ``Http404`` for one that is not the organization's."""
    application = applications_of(member).filter(pk=application_id).first()
    if application is None:
        raise Http404
    return application


def key_of(application: Application, key_id: int) -> ApiKey:
    """Return the key. Raise ``Http404`` for one that is not the application's."""
    key = application.keys.select_related("application").filter(pk=key_id).first()
    if key is None:
        raise Http404
    return key
