"""What each plan allows (specification 2.4, 4.5, 8)."""

from dataclasses import dataclass

from paraph.organizations.models import Plan


@dataclass(frozen=True)
class Allowance:
    signers: int
    documents: int
    branding_profiles: int
    production: bool
    initials: bool
    sms: bool


ALLOWANCES = {
    Plan.FREE: Allowance(5, 3, 0, production=False, initials=False, sms=False),
    Plan.PRO: Allowance(25, 20, 2, production=True, initials=True, sms=True),
    Plan.ENTERPRISE: Allowance(100, 50, 10, production=True, initials=True, sms=True),
}


def allowance(plan: str) -> Allowance:
    return ALLOWANCES[Plan(plan)]
