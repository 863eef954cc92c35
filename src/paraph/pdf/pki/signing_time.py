"""The time of a signature by the signer's clock, which proves nothing."""

from datetime import UTC, datetime

from paraph.pdf.pki import oids
from paraph.pdf.pki.cms import SignedData
from paraph.pdf.pki.der import Element

_UTC_TIME = 0x17
_UTC_TIME_ENDS = 2050  # two digits of a year from 50 on mean the century before (RFC 5280 §4.1.2.5.1)


def signing_time(signed: SignedData) -> datetime | None:
    """Returns the time that the signed attributes state (RFC 5652 §11.3), ``None`` where they state none."""
    stated = signed.signed_attributes.get(oids.SIGNING_TIME)
    try:
        return _time(stated) if stated else None
    except ValueError:
        return None


def _time(stated: Element) -> datetime:
    if stated.tag != _UTC_TIME:
        return stated.generalized_time()
    moment = datetime.strptime(stated.content.decode("ascii"), "%y%m%d%H%M%SZ").replace(tzinfo=UTC)
    return moment if moment.year < _UTC_TIME_ENDS else moment.replace(year=moment.year - 100)
