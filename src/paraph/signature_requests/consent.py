"""The consent notice that a signer accepts. The journal records the accepted text (specification 6.2)."""

LOCALES = ("en", "fr", "de", "es", "it", "pt", "nl")

_AGREEMENT = {  # for one document and for several
    "en": (
        "I have read the document shown here and agree to sign it electronically.",
        "I have read the {count} documents shown here and agree to sign them electronically.",
    ),
    "fr": (
        "J’ai lu le document présenté ici et j’accepte de le signer électroniquement.",
        "J’ai lu les {count} documents présentés ici et j’accepte de les signer électroniquement.",
    ),
    "de": (
        "Ich habe das hier gezeigte Dokument gelesen und bin einverstanden, es elektronisch zu unterschreiben.",
        "Ich habe die {count} hier gezeigten Dokumente gelesen und bin einverstanden, sie elektronisch zu "
        "unterschreiben.",
    ),
    "es": (
        "He leído el documento que se muestra aquí y acepto firmarlo electrónicamente.",
        "He leído los {count} documentos que se muestran aquí y acepto firmarlos electrónicamente.",
    ),
    "it": (
        "Ho letto il documento qui mostrato e accetto di firmarlo elettronicamente.",
        "Ho letto i {count} documenti qui mostrati e accetto di firmarli elettronicamente.",
    ),
    "pt": (
        "Li o documento aqui apresentado e aceito assiná-lo eletronicamente.",
        "Li os {count} documentos aqui apresentados e aceito assiná-los eletronicamente.",
    ),
    "nl": (
        "Ik heb het hier getoonde document gelezen en ga ermee akkoord het elektronisch te ondertekenen.",
        "Ik heb de {count} hier getoonde documenten gelezen en ga ermee akkoord ze elektronisch te ondertekenen.",
    ),
}
_EVIDENCE = {
    "en": "I understand that my electronic signature commits me, and that the time, my network address, my browser "
    "and the code sent to me are recorded as evidence.",
    "fr": "Je comprends que ma signature électronique m’engage, et que l’heure, mon adresse réseau, mon navigateur et "
    "le code qui m’a été envoyé sont enregistrés à titre de preuve.",
    "de": "Mir ist bewusst, dass meine elektronische Unterschrift mich bindet und dass Uhrzeit, Netzwerkadresse, "
    "Browser und der mir gesandte Code zum Nachweis aufgezeichnet werden.",
    "es": "Entiendo que mi firma electrónica me compromete y que la hora, mi dirección de red, mi navegador y el "
    "código que se me envió quedan registrados como prueba.",
    "it": "Comprendo che la mia firma elettronica mi impegna e che l’ora, il mio indirizzo di rete, il mio browser e "
    "il codice inviatomi sono registrati come prova.",
    "pt": "Compreendo que a minha assinatura eletrónica me vincula e que a hora, o meu endereço de rede, o meu "
    "navegador e o código que me foi enviado ficam registados como prova.",
    "nl": "Ik begrijp dat mijn elektronische handtekening mij bindt en dat het tijdstip, mijn netwerkadres, mijn "
    "browser en de aan mij gestuurde code als bewijs worden vastgelegd.",
}


def consent_notice(locale: str, documents: int) -> str:
    """Returns the text for this number of documents, in one of :data:`LOCALES`. Raises ``KeyError`` for another."""
    one, several = _AGREEMENT[locale]
    return f"{one if documents == 1 else several.format(count=documents)} {_EVIDENCE[locale]}"
