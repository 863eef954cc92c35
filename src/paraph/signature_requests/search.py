"""Finding requests by names, mail addresses, file names and ids, in time that does not grow with their number.

Every word asked for is the beginning of a :class:`~paraph.signature_requests.models.SearchTerm`. The request ids of
each such term are read from the end of their index, and no more than :data:`DEPTH` at once.
"""

from dataclasses import dataclass

from django.db import connection
from django.db.models import OuterRef, QuerySet, Subquery

from paraph.signature_requests.models import SearchTerm, SignatureRequest
from paraph.signature_requests.values import LARGEST_ID
from paraph.tenants.scope import TenantScope, scoped

DEPTH = 400
MOST_WORDS = 5
MOST_TERMS = 20
_LAST = "\U0010ffff"
_ROUNDS = 3

_WORDS = "SELECT DISTINCT signature_requests_words_of_file(%s)"
# Steps from each term to the next, so that a term of a million requests costs no more than one of a single request.
_TERMS = """
    WITH RECURSIVE found (term) AS (
        (SELECT term FROM signature_requests_searchterm
         WHERE organization_id = %(organization_id)s AND environment = %(environment)s
           AND term >= %(first)s AND term < %(last)s ORDER BY term LIMIT 1)
        UNION ALL
        SELECT (SELECT following.term FROM signature_requests_searchterm AS following
                WHERE organization_id = %(organization_id)s AND environment = %(environment)s
                  AND following.term > found.term AND following.term < %(last)s
                ORDER BY following.term LIMIT 1)
        FROM found WHERE found.term IS NOT NULL
    )
    SELECT term FROM found WHERE term IS NOT NULL LIMIT %(most)s
"""
_IDS = """
    SELECT DISTINCT id FROM unnest(%(terms)s::text[]) AS wanted (term), LATERAL (
        SELECT request_id AS id FROM signature_requests_searchterm AS found
        WHERE organization_id = %(organization_id)s AND environment = %(environment)s
          AND found.term = wanted.term AND request_id {beyond} %(start)s
        ORDER BY request_id {direction} LIMIT %(depth)s
    ) AS hit ORDER BY id {direction} LIMIT %(depth)s
"""


@dataclass(frozen=True)
class Found:
    """``ids`` in the order asked for. ``looked_until``: the id to go on from where there may be more, None at the end.
    ``too_many_words``: a word begins so many others that not all of them were looked for."""

    ids: list[int]
    looked_until: int | None = None
    too_many_words: bool = False


def search(
    scope: TenantScope,
    text: str,
    rows: QuerySet[SignatureRequest],
    limit: int,
    start: int | None,
    *,
    rising: bool = False,
) -> Found:
    """Return the first ``limit`` of the caller's ``rows`` that have all words of the text, from the newest on, or
    from the oldest on if ``rising``; only those beyond ``start``, where it is given."""
    words = [_terms(scope, word) for word in _words(text)]
    if not words or not all(words):
        return Found([])
    truncated = any(len(terms) >= MOST_TERMS for terms in words)
    start = start if start is not None else (0 if rising else LARGEST_ID)
    ids = list[int]()
    for _round in range(_ROUNDS):
        candidates, rest = _rarest(scope, words, start, rising=rising)
        fitting = set(_fitting(scope, rows, candidates, rest))
        ids += [each for each in candidates if each in fitting]
        if len(ids) > limit:
            return Found(ids[:limit], ids[limit - 1], truncated)
        if len(candidates) < DEPTH:
            return Found(ids, None, truncated)
        start = candidates[-1]
    return Found(ids, start, truncated)


def _words(text: str) -> list[str]:
    """Return the words to look for. A mail address stays one word; everything else is split as the terms are."""
    words = [part.lower()[:100] for part in text.split() if "@" in part]
    others = " ".join(part for part in text.split() if "@" not in part)
    if others:
        with connection.cursor() as cursor:
            cursor.execute(_WORDS, [others])
            words += [word for (word,) in cursor.fetchall()]
    return words[:MOST_WORDS]


def _terms(scope: TenantScope, word: str) -> list[str]:
    """Return the terms that begin with the word, in an order that has the word itself first."""
    with connection.cursor() as cursor:
        cursor.execute(_TERMS, {**scope.columns, "first": word, "last": word + _LAST, "most": MOST_TERMS})
        return [term for (term,) in cursor.fetchall()]


def _rarest(
    scope: TenantScope, words: list[list[str]], start: int, *, rising: bool
) -> tuple[list[int], list[list[str]]]:
    """Return the request ids of the word that the fewest requests have, and the other words."""
    ids = [_ids(scope, terms, start, rising=rising) for terms in words]
    rarest = min(range(len(words)), key=lambda number: len(ids[number]))
    return ids[rarest], words[:rarest] + words[rarest + 1 :]


def _ids(scope: TenantScope, terms: list[str], start: int, *, rising: bool) -> list[int]:
    beyond, direction = (">", "ASC") if rising else ("<", "DESC")
    with connection.cursor() as cursor:
        statement = _IDS.format(beyond=beyond, direction=direction)
        cursor.execute(statement, {**scope.columns, "terms": terms, "start": start, "depth": DEPTH})
        return [found for (found,) in cursor.fetchall()]


def _fitting(
    scope: TenantScope, rows: QuerySet[SignatureRequest], candidates: list[int], words: list[list[str]]
) -> list[int]:
    """Return the candidates that have all words. Each word is looked up for each candidate: the database could turn an
    EXISTS into a join, which reads all requests that have the word."""
    rows = rows.filter(pk__in=candidates)
    for number, terms in enumerate(words):
        having = scoped(SearchTerm, scope).filter(term__in=terms, request_id=OuterRef("pk"))
        name = f"word{number}"
        rows = rows.annotate(**{name: Subquery(having.values("request_id")[:1])}).filter(**{f"{name}__isnull": False})
    return list(rows.order_by().values_list("pk", flat=True))
