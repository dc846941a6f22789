"""Credentials recognised by prefix: one line per vendor format."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator

from msgspec import Struct

from reviewer.text.late_pattern import late
from reviewer.text.secrets.shapes import is_placeholder, is_wordy


class FoundSecret(Struct, frozen=True):
    """A credential in a text: `text[start:end]` must be masked."""

    start: int
    end: int
    kind: str


# Prefixes that start nothing else, recognised even if encoded.
_ENCODED_PREFIXES = (
    *("ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "rk_live_", "sk_live_", "sk_test_"),
    *("gsk_", "npm_", "sk-ant-", "sk-proj-", "xoxb-", "xoxp-", "glpat-", "AKIA", "ASIA", "AIza"),
)


def _encoded(prefix: str) -> str:
    """The start of the Base64 form of a text with this prefix."""
    return b64encode(prefix.encode()).decode()[: len(prefix) * 8 // 6]


# kind, prefix (kept), body (masked). From the vendors' documentation and public scanners' rules.
FORMS = (
    ("aws-access-key", r"A(?:KI|SI|BI|CC)A", r"[A-Z0-9]{16}(?![A-Za-z0-9/+])"),
    ("github-token", r"gh[oprsu]_", r"[A-Za-z0-9_]{30,255}"),
    ("github-token", r"github_pat_", r"[A-Za-z0-9_]{30,255}"),
    ("gitlab-token", r"gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-", r"[\w.-]{20,300}"),
    ("anthropic-key", r"sk-ant-(?:[a-z]{2,8}\d{2}-)?", r"[\w-]{20,300}"),
    ("openai-key", r"sk-(?:proj|svcacct|admin|None)-", r"[\w-]{20,300}"),
    ("api-key", r"sk-(?:or-v1-|lf-|[a-z]{2,8}-)?", r"[A-Za-z0-9][\w.-]{18,300}"),
    ("slack-token", r"xox[abcdeoprs]-", r"[A-Za-z0-9.-]{10,300}"),
    ("slack-token", r"xapp-\d-", r"[A-Za-z0-9-]{20,300}"),
    ("google-key", r"AIza", r"[\w-]{35}(?![\w-])"),
    ("google-secret", r"GOCSPX-", r"[\w-]{20,60}"),
    ("google-token", r"ya29\.", r"[\w-]{20,2000}"),
    ("stripe-key", r"[rs]k_(?:live|test)_", r"[A-Za-z0-9]{16,255}"),
    ("webhook-secret", r"whsec_", r"[A-Za-z0-9+/=]{20,255}"),
    ("npm-token", r"npm_", r"[A-Za-z0-9]{30,60}"),
    ("pypi-token", r"pypi-", r"AgE[\w-]{30,500}"),
    ("sendgrid-key", r"SG\.", r"[\w-]{16,64}\.[\w-]{16,64}"),
    ("huggingface-token", r"(?:hf|api_org)_", r"[A-Za-z0-9]{30,60}"),
    ("twilio-key", r"SK", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("telegram-token", r"(?:bot)?\d{8,10}:", r"AA[\w-]{32,36}"),
    ("jwt", r"eyJ", r"[\w-]{8,1000}\.eyJ[\w-]{8,50000}\.[\w-]{10,2000}"),
    ("digitalocean-token", r"do[opr]_v1_", r"[0-9a-f]{64}"),
    ("shopify-token", r"shp(?:at|ca|pa|ss)_", r"[0-9a-fA-F]{32}"),
    ("square-token", r"sq0(?:atp|csp|idp)-", r"[\w-]{22,60}"),
    ("databricks-token", r"dapi", r"[0-9a-f]{32}(?:-\d)?"),
    ("linear-key", r"lin_(?:api|oauth)_", r"[A-Za-z0-9]{32,80}"),
    ("notion-token", r"(?:ntn|secret)_", r"[A-Za-z0-9]{40,60}"),
    ("supabase-key", r"sb(?:p|_secret)_", r"[A-Za-z0-9_-]{20,80}"),
    ("vault-token", r"hv[bsr]\.", r"[\w-]{24,300}"),
    ("doppler-token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.", r"[\w.-]{40,80}"),
    ("groq-key", r"gsk_", r"[A-Za-z0-9]{40,80}"),
    ("xai-key", r"xai-", r"[A-Za-z0-9]{40,100}"),
    ("perplexity-key", r"pplx-", r"[A-Za-z0-9]{40,80}"),
    ("tavily-key", r"tvly-(?:dev-|prod-)?", r"[A-Za-z0-9]{20,60}"),
    ("replicate-token", r"r8_", r"[A-Za-z0-9]{30,60}"),
    ("sentry-token", r"sntry[su]_", r"[\w+/=]{40,300}"),
    ("mailgun-key", r"key-", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("mailchimp-key", r"", r"[0-9a-f]{32}-us\d{1,2}(?!\d)"),
    ("grafana-token", r"gl(?:sa|c)_", r"[A-Za-z0-9_+/=]{32,300}"),
    ("newrelic-key", r"NRAK-", r"[A-Z0-9]{27}"),
    ("atlassian-token", r"ATATT3", r"[\w=-]{50,300}"),
    ("figma-token", r"fig[dour]_", r"[\w-]{30,80}"),
    ("age-key", r"AGE-SECRET-KEY-1", r"[A-Z0-9]{50,64}"),
    ("docker-token", r"dckr_(?:pat|oat)_", r"[\w-]{24,80}"),
    ("postman-key", r"PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("airtable-token", r"pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("planetscale-token", r"pscale_(?:tkn|pw|oauth)_", r"[\w.-]{30,80}"),
    ("pulumi-token", r"pul-", r"[0-9a-f]{40}"),
    ("rubygems-key", r"rubygems_", r"[0-9a-f]{48}"),
    ("tailscale-key", r"tskey-[a-z]{3,10}-", r"[A-Za-z0-9-]{16,80}"),
    ("crates-token", r"cio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("circleci-token", r"CCIPAT_", r"[\w-]{30,100}"),
    ("discord-token", r"[MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.", r"[\w-]{27,40}(?![\w-])"),
    ("mapbox-token", r"[st]k\.eyJ", r"[\w-]{20,400}\.[\w-]{15,60}"),
    ("1password-token", r"ops_eyJ", r"[\w=-]{100,2000}"),
    ("easypost-key", r"EZ[AT]K", r"[A-Za-z0-9]{54}"),
    ("dynatrace-token", r"dt0[a-z]\d\d\.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("fly-token", r"fm[12][ar]?_", r"[\w+/=,-]{80,3000}"),
    ("nvidia-key", r"nvapi-", r"[\w-]{60,80}"),
    ("cerebras-key", r"csk-", r"[A-Za-z0-9]{40,60}"),
    ("fireworks-key", r"fw_", r"[A-Za-z0-9]{22,40}"),
    ("langsmith-key", r"lsv2_(?:pt|sk)_", r"[0-9a-f]{32}_[0-9a-f]{10}"),
    ("langfuse-key", r"[sp]k-lf-", r"[0-9a-f-]{36}"),
    ("posthog-key", r"ph[xs]_", r"[A-Za-z0-9]{40,60}"),
    ("brevo-key", r"xkeysib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("resend-key", r"re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,30}"),
    ("buildkite-token", r"bk(?:ua|at|pt|ct)_", r"[0-9a-f]{40}"),
    ("hubspot-token", r"pat-(?:na|eu)\d-", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("sourcegraph-token", r"sg[pd]_(?:[0-9a-f]{16}_|local_)?", r"[0-9a-f]{40}"),
    ("netlify-token", r"nf[pouc]_", r"[A-Za-z0-9]{36,44}"),
    ("vercel-token", r"v(?:cp|ci|ca|cr|ck)_", r"[A-Za-z0-9]{24,60}"),
    ("apify-token", r"apify_api_", r"[A-Za-z0-9]{34,44}"),
    ("typeform-token", r"tfp_", r"[\w.=-]{40,70}"),
    ("mailersend-token", r"mlsn\.", r"[0-9a-f]{64}"),
    ("prefect-key", r"pn[ub]_", r"[A-Za-z0-9]{36}"),
    ("runpod-key", r"rpa_", r"[A-Z0-9]{36,50}"),
    ("artifactory-key", r"AKC", r"[A-Za-z0-9]{64,80}"),
    ("terraform-token", r"[A-Za-z0-9]{14}\.atlasv1\.", r"[\w=-]{60,80}"),
    *(
        ("encoded-token", re.escape(_encoded(prefix)), r"[A-Za-z0-9+/]{20,400}={0,2}")
        for prefix in _ENCODED_PREFIXES
    ),
)


_ANY = "|".join(f"{prefix}({body})" for _, prefix, body in FORMS)
# A format starts a run or follows another character. Starting the second pattern with a character
# set is several times faster than a lookbehind.
_FIRST = late(_ANY)
_NEXT = late(f"[^A-Za-z0-9](?:{_ANY})")
# Kinds with a short prefix or one that also starts ordinary words: their body must look random.
_LOOSE = frozenset(
    {
        "api-key", "slack-token", "gitlab-token", "figma-token", "tailscale-key", "fireworks-key",
        "resend-key", "vercel-token", "netlify-token", "discord-token", "posthog-key",
    }
)  # fmt: skip

# Every format is an unbroken run of at least 20 of these, so only such runs are searched.
_RUN = b"a" * 20
_RUN_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.+/=:"
_TO_RUNS = bytes(0x61 if code in _RUN_CHARACTERS else 0x20 for code in range(256))


def prefixed_values(text: str, flat: bytes) -> Iterator[FoundSecret]:
    """Credentials with a known prefix; `flat` is the text's Latin-1 form."""
    runs = flat.translate(_TO_RUNS)
    for start, end in _long_runs(runs, len(text)):
        yield from _in_run(text, start, end)


def _long_runs(runs: bytes, length: int) -> Iterator[tuple[int, int]]:
    end = 0
    while (start := runs.find(_RUN, end)) >= 0:
        end = runs.find(b" ", start)
        end = length if end < 0 else end
        yield start, end


def _in_run(text: str, start: int, end: int) -> Iterator[FoundSecret]:
    match = _FIRST.match(text, start, end) or _NEXT.search(text, start, end)
    while match:
        number = match.lastindex or 1
        kind, value = FORMS[number - 1][0], match[number]
        if _is_real(kind, value):
            begin = match.start(number)
            yield FoundSecret(begin, begin + len(value.rstrip(".-")), kind)
        match = _NEXT.search(text, match.end(), end)


def _is_real(kind: str, value: str) -> bool:
    """Whether it is not a placeholder from documentation: `sk-xxxx...`, `ghp_your_token_here`."""
    if len(set(value.lower())) < 4 or is_placeholder(value):
        return False
    if kind in _LOOSE:
        digits = sum(character.isdigit() for character in value)
        return digits >= 2 and digits < len(value) and not is_wordy(value)
    return True
