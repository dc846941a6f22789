"""Patterns that find every text that `mask` may change, in columns of texts at once.

They are made of the rules themselves, so that a rule and its pattern cannot differ.
"""

from __future__ import annotations

import re
import sys
from functools import cache

from reviewer.text.secrets import contexts, kinds, notations
from reviewer.text.superset import either, superset


@cache
def patterns() -> tuple[str, ...]:
    """Patterns of RE2, for bytes: a text in which none of them matches is one that `mask` leaves
    as it is. Several, because one with all rules would have more states than the matcher keeps.
    """
    forms = [(prefix, superset(prefix + body)) for _, prefix, body in kinds.FORMS]
    return (
        either(
            [
                *map(_of, (contexts.KEY_BLOCK, notations.HASH, notations.PEM)),
                superset("://" + contexts.USER_INFO.pattern),
                *(_of(rule) for _, rule, _ in contexts.WEBHOOK_RULES),
                *map(_of, (contexts.BEARER, contexts.BASIC, notations.WIFI)),
            ]
        ),
        either(form for prefix, form in forms if prefix[:1].isalnum() and prefix[1:2] != "?"),
        either(form for prefix, form in forms if not prefix[:1].isalnum() or prefix[1:2] == "?"),
        either([_of(kinds.CUT_OFF), _of(notations.ESCAPED), *_hiding()]),
        either(map(_of, (contexts.ASSIGNMENT, contexts.STATED, contexts.PAIR))),
        either(map(_of, (contexts.PASSWORD_OF_USER, notations.WORDS))),
        either(
            [
                *(
                    superset(re.escape(rule.needle.decode()) + rule.pattern.pattern, re.IGNORECASE)
                    for rule in (*contexts.OPTION_RULES, *contexts.RULES)
                ),
                _of(contexts.PIPED),
            ]
        ),
        either(map(_of, (notations.ENVIRONMENT, notations.OTHER_LANGUAGES, notations.PGPASS))),
    )


def _of(rule: re.Pattern[str]) -> str:
    return superset(rule.pattern, rule.flags)


def _hiding() -> list[str]:
    """Characters that may hide a secret from all the rules: RE2 reads bytes, so each by itself."""
    odd = re.compile(notations.ODD)
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    return ["".join(f"\\x{code:02x}" for code in each.encode()) for each in odd.findall(everything)]
