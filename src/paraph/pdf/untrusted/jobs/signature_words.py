"""Which words say that a blank beside them waits for a signature, and which that it waits for something else."""

import re

SIGNED_HERE = re.compile(
    r"\bsign(?!al|ifi)|unterschrift|unterzeichn|gezeichnet|firma\b|firmato|firmado|firmante|assina|handtekening|"
    r"onderteken|podpis|underskrift|allekirjoitus|podpisom|aláírás|подпис|签名|签字|署名|서명|توقيع|חתימה",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"^\W*(?:printed |print |full |block |job |vor- und |vor-|nach)?"
    r"(?:names?|namen?|nom|nome|nombre|naam|vorname|nachname|prénom|title|position|function|capacity|titel|funktion|"
    r"qualité|fonction|date[ds]?|datum|fecha|data|places?|ort|lieu|luogo|lugar|plaats|address|anschrift|adresse|"
    r"e-?mail|phone|tel(?:efon|ephone)?|téléphone|iban|bic|amount|betrag|montant|rent|miete|loyer|"
    r"initials?|paraphe?s?|kürzel|company|unternehmen|société|no|nr|number|nummer|numéro)\b",
    re.IGNORECASE,
)
_WITH_SIGNATURE = re.compile(
    r"[,/&+]\s*(?:\w+\s+)?(?:signature|unterschrift|firma|assinatura|handtekening)|"
    r"(?:and|und|et|y|e|en) (?:signature|unterschrift|firma|assinatura|handtekening)",
    re.IGNORECASE,
)
_WHEN_OR_WHERE = re.compile(
    r"\b(?:sign(?:ed|é|ée)?s?|unterzeichnet|gezeichnet|firmado|firmato)\s+(?:this|on|at|in|am|den|le|à|a|en|il|el)\b|"
    r"\bfait à|\bdate\b.*\bsign",
    re.IGNORECASE,
)
_PARTY = re.compile(
    r"^\W*(?:(?:the|der|die|das|le|la|les|el|il|lo|o|a|de|het|for|für|pour|per|para|voor|on behalf of|im auftrag)\s+|"
    r"l['’]){0,2}(?:by|per|x|i\. ?[av]\.|ppa|pour|für|for|(?:sub|co-?)?(?:landlord|landlady|tenant|lessor|lessee|buyer|"
    r"seller|purchaser|vendor|client|customer|contractor|supplier|consultant|employer|employee|borrower|lender|"
    r"guarantor|licensor|licensee|owner|agent|witness|director|manager|party|parties|discloser|recipient|"
    r"(?:disclosing|receiving|first|second) party|provider|freelancer|"
    r"vermieter|mieter|verkäufer|käufer|auftraggeber|auftragnehmer|arbeitgeber|arbeitnehmer|kunde|bürge|zeuge|"
    r"darlehensgeber|darlehensnehmer|eigentümer|verwalter|dienstleister|geschäftsführer|übergeber|übernehmer|"
    r"bailleur|bailleresse|locataire|preneur|vendeur|vendeuse|acheteur|acquéreur|employeur|salariée?|prestataire|"
    r"cliente?|mandant|mandataire|propriétaire|caution|témoin|emprunteur|prêteur|"
    r"arrendador|arrendatario|vendedor|comprador|locatore|conduttore|venditore|acquirente|verhuurder|huurder|koper|"
    r"verkoper|werkgever|werknemer|locador|locatário|senhorio|inquilino)(?:in|innen|s|e|es|/in|\(in\)|\*in)?)"
    r"(?=$|[\s\W])",
    re.IGNORECASE,
)
_LONGEST_LABEL = 80
_LONGEST_PARTY = 60
_TITLE = r"(?:Mr|Mrs|Ms|Dr|Herr|Frau|M|Mme|Prof)\.? "
_NAME = re.compile(
    rf"(?:{_TITLE})*[^\W\d_a-z][\w'’.-]*(?: (?:v[ao]n|de[rnls]?|da|di|du|l[ae]|zu|al|bin|[^\W\d_a-z][\w'’.-]*)){{1,4}}"
)


def asks(label: str) -> int:
    """Return 2 where the words beside a blank ask for a signature, 1 where they name who might sign there, else 0."""
    words = label.strip()
    if not words or len(words) > _LONGEST_LABEL:
        return 0
    if _WHEN_OR_WHERE.search(words) and not _WITH_SIGNATURE.search(words):
        return 0
    if _OTHERWISE.match(words):
        return 2 if _WITH_SIGNATURE.search(words) else 0
    if SIGNED_HERE.search(words):
        return 2
    return int(len(words) <= _LONGEST_PARTY and bool(_PARTY.match(words)))


def asks_otherwise(label: str) -> bool:
    """Return whether the words ask for something that is no signature, such as a date."""
    return asks(label) == 0 and bool(_OTHERWISE.match(label) or _WHEN_OR_WHERE.search(label))


def is_name(label: str) -> bool:
    """Return whether the words may be somebody's name."""
    return len(label) <= _LONGEST_PARTY and bool(_NAME.fullmatch(label))
