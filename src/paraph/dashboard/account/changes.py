"""Noting in the activity log when somebody changes how they log in, which django-allauth announces by signals."""

from functools import partial
from typing import Any

from allauth.account import signals as account
from allauth.mfa import signals as second_factors
from django.dispatch import Signal
from django.http import HttpRequest

from paraph.dashboard.decorators import actor_of
from paraph.tenants.accounts import note_account_change
from paraph.tenants.admin_log import Action
from paraph.tenants.models import User

_CHANGES: dict[Action, tuple[Signal, ...]] = {
    Action.PASSWORD_CHANGED: (account.password_changed, account.password_set, account.password_reset),
    Action.ADDRESS_CHANGED: (account.email_changed,),
    Action.SECOND_FACTOR_ADDED: (second_factors.authenticator_added,),
    Action.SECOND_FACTOR_REMOVED: (second_factors.authenticator_removed,),
}


def listen() -> None:
    for action, signals in _CHANGES.items():
        for signal in signals:
            signal.connect(partial(_note, action), weak=False, dispatch_uid=f"{action} {id(signal)}")


def _note(action: Action, *, request: HttpRequest, user: User, **_more: Any) -> None:
    note_account_change(user, actor_of(user, request), action)
