"""Words and dates on stamps in the signer's language; English for unknown languages."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class StampWords:
    signed_by: str
    request: str
    months: str  # twelve abbreviations, January first
    day_suffix: str = ""


_STAMP_WORDS = {
    "en": StampWords("Signed by", "Request", "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"),
    "fr": StampWords("Signé par", "Demande", "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc."),
    "de": StampWords(
        "Unterzeichnet von",
        "Vorgang",
        "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
        day_suffix=".",
    ),
    "es": StampWords("Firmado por", "Solicitud", "ene feb mar abr may jun jul ago sept oct nov dic"),
    "it": StampWords("Firmato da", "Richiesta", "gen feb mar apr mag giu lug ago set ott nov dic"),
    "pt": StampWords(
        "Assinado por",
        "Pedido",
        "jan. fev. mar. abr. maio jun. jul. ago. set. out. nov. dez.",
    ),
    "nl": StampWords("Ondertekend door", "Verzoek", "jan. feb. mrt. apr. mei jun. jul. aug. sep. okt. nov. dec."),
}


def stamp_words(locale: str) -> StampWords:
    """Returns the words for ``locale`` ("fr", "fr-CA", "fr_CA")."""
    return _STAMP_WORDS.get(locale.replace("_", "-").split("-")[0].lower(), _STAMP_WORDS["en"])


def moment(at: datetime, locale: str) -> str:
    """Writes date and time with the timezone's name: ``21 Nov 2026, 14:05:09 UTC``. ``at`` must be aware."""
    words = stamp_words(locale)
    return f"{at.day}{words.day_suffix} {words.months.split()[at.month - 1]} {at.year}, {at:%H:%M:%S} {at.tzname()}"
