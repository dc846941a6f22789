"""Secrets: values are masked, mentions survive, kind and prefix stay."""

from __future__ import annotations

from base64 import b64encode

import pytest

from reviewer.text.secrets import mask, secrets_in, with_secrets
from tests.unit.text.planted_secrets import (
    ABOUT_PASSWORDS,
    AROUND,
    FORMS,
    HARMLESS,
    PLANTED,
    SPELLED,
    Planted,
)

# Well-shaped, and made up: prefixes are joined to bodies here so that no scanner stumbles.
BODY = "q7Zk3Vn9Tb1Xw5Rm8Lc2Pd6Hs4Jf0Gy"
HEX = "9f3a7c1e5b2d8064"
KEY_LINES = "\n".join(["MIIEvFAKE" + BODY + "notAKeyAtAll7Uv"] * 3 + ["q7Zk3Vn9=="])


ENCODED_KEY = b64encode(b"-----BEGIN RSA PRIVATE KEY-----\n" + BODY.encode() * 4).decode()
ENCODED_CERTIFICATE = b64encode(b"-----BEGIN CERTIFICATE-----\n" + BODY.encode() * 4).decode()


def drawn(length: int) -> str:
    return (BODY * 6)[:length]


@pytest.mark.parametrize(("kind", "prefix", "body"), FORMS)
def test_a_known_prefix_stays_and_the_value_after_it_is_masked(
    kind: str, prefix: str, body: str
) -> None:
    for around in AROUND:
        masked = mask(around.format(prefix + body))
        assert masked.text == around.format(f"{prefix}[masked {kind}]")
        assert masked.kinds == (kind,)


PLACED = {
    f"AWS_SECRET_ACCESS_KEY={drawn(20)}/{drawn(19)}": (
        "AWS_SECRET_ACCESS_KEY=[masked aws-secret-key]"
    ),
    f"aws_secret_access_key = /{drawn(39)}": "aws_secret_access_key = [masked aws-secret-key]",
    f"https://hooks.slack.com/services/T0FAKE123/B0FAKE456/{drawn(24)}": (
        "https://hooks.slack.com/services/[masked slack-webhook]"
    ),
    f"-----BEGIN RSA PRIVATE KEY-----\n{KEY_LINES}\n-----END RSA PRIVATE KEY-----": (
        "-----BEGIN RSA PRIVATE KEY-----\n[masked private-key]\n\n\n\n-----END RSA PRIVATE KEY-----"
    ),
    "-----BEGIN PRIVATE KEY-----\\n"
    + KEY_LINES.replace("\n", "\\n")
    + "\\n-----END PRIVATE KEY-----": (
        "-----BEGIN PRIVATE KEY-----\\n[masked private-key]\\n-----END PRIVATE KEY-----"
    ),
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011AA\n\n"
    f"{KEY_LINES}\n-----END RSA PRIVATE KEY-----": (
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011AA\n\n"
        "[masked private-key]\n\n\n\n-----END RSA PRIVATE KEY-----"
    ),
    f"-----BEGIN OPENSSH PRIVATE KEY-----\n{KEY_LINES[:90]}": (  # cut off
        "-----BEGIN OPENSSH PRIVATE KEY-----\n[masked private-key]\n"
    ),
    f"Authorization: Bearer {drawn(32)}": "Authorization: Bearer [masked bearer-token]",
    f"Authorization: token {HEX * 2}": "Authorization: token [masked authorization]",
    "Authorization: Basic YWRtaW46aHVudGVyMg==": "Authorization: Basic [masked basic-credentials]",
    "redis://:p4ssw0rd@localhost": "redis://:[masked url-password]@localhost",
    "https://ci:p@ss@w0rd@git.example.org/x.git": (
        "https://ci:[masked url-password]@git.example.org/x.git"
    ),
    'db_password: str = "s3cr3t!"': 'db_password: str = "[masked password]"',
    '{\\"password\\": \\"hunter2\\"}': '{\\"password\\": \\"[masked password]\\"}',
    "PGPASSWORD=hunter22 psql": "PGPASSWORD=[masked password] psql",
    '"machine r.example login ann password n3tRc77"': (
        '"machine r.example login ann password [masked password]"'
    ),
    "<password>hunter22</password>": "<password>[masked password]</password>",
    'token: "OcqNDQkbTdQSXcReGDwZ"': 'token: "[masked token]"',
    'client_secret="/h+vwg3YgCBhecVK6FSDgKN+cJUPy+xM"': 'client_secret="[masked secret]"',
    f"api_key: -{drawn(31)}": "api_key: [masked api-key]",
    f"AccountKey={drawn(86)}==;": "AccountKey=[masked api-key];",
    'api_key = "12345678-9abc-4def-8123-456789abcdef"': 'api_key = "[masked api-key]"',
    "username: maria\npassword: sunflower\n": "username: maria\npassword: [masked password]\n",
    "connect(user='root', password='Tiger_tiger8')": (
        "connect(user='root', password='[masked password]')"
    ),
    "log in as admin / Velvet!Moose42.": "log in as admin / [masked password].",
    "The root password on the kiosk is correct7horse.": (
        "The root password on the kiosk is [masked password]."
    ),
    '{"auths":{"r.example":{"auth":"ZGVwbG95OlhrMjlka1EwMm16"}}}': (
        '{"auths":{"r.example":{"auth":"[masked basic-credentials]"}}}'
    ),
    r"{\"auth\":\"ZGVwbG95OlhrMjlka1EwMm16\"}": r"{\"auth\":\"[masked basic-credentials]\"}",
    f"`Cookie: sid={HEX}4f2a`": "`Cookie: sid=[masked cookie]`",
    "the password is Tr1cky-Horse9": "the password is [masked password]",
    "wifi psk=cobalt-Drum-31": "wifi psk=[masked password]",
    f"LICENSE_KEY={HEX}{HEX}4f2a": "LICENSE_KEY=[masked api-key]",
    f"https://outlook.office.com/webhook/{HEX * 2}/7": (
        "https://outlook.office.com/webhook/[masked teams-webhook]"
    ),
    f"https://team.webhook.office.com/webhookb2/{HEX * 2}/IncomingWebhook/7": (
        "https://team.webhook.office.com/webhookb2/[masked teams-webhook]"
    ),
    f"https://discord.com/api/webhooks/123456789012345678/{drawn(60)}": (
        "https://discord.com/api/webhooks/123456789012345678/[masked discord-webhook]"
    ),
    "GITHUB_TOKEN=gh" + f"p_{drawn(36)}": "GITHUB_TOKEN=gh" + "p_[masked github-token]",
    '日本語 😀 \udc80 password = "hunter2" — конец': (
        '日本語 😀 \udc80 password = "[masked password]" — конец'
    ),
}


@pytest.mark.parametrize(("text", "expected"), PLACED.items())
def test_a_value_in_a_telling_place_is_masked_and_its_name_stays(text: str, expected: str) -> None:
    masked = mask(text)
    assert masked.text == expected
    assert len(masked.kinds) == 1
    assert mask(masked.text) == (type(masked)(expected, ()))


MENTIONS = [
    "PASS: tests/unit/test_login2.py",
    "user: ann\npassword: /run/secrets/db\n",
    "apiKey: process.env.OPENAI_API_KEY",
    "The password is stored in the vault of the team.",
    'token = "accessTokenFromSession"',
    'secret: "/var/run/secrets/appSecret2/tokenV1"',
    'key = os.getenv("SERVICE_API_KEY_2024")',
    "password: str",
    "password: str | None = None",
    "password: Uint8Array",
    "token: Base64UrlString1",
    "TOKEN=${SECRET}",
    "TOKEN=$GITHUB_TOKEN1",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password: {{ vault_password_1 }}",
    'password = "changeme123"',
    'password = "xxxxxxxx1"',
    'password = ""',
    "password: '#password'",
    "password: '#login-password-1'",
    "password_file: /run/secrets/db_password1",
    'token_url: "https://login.example.org/oauth2/v2.0/token"',
    'secret_name = "prod/db-credentials-2024"',
    'secret: "my-app-secret-v2"',
    "secretKeyRef: app-secrets-v2",
    "tokenizer: claude-3-5-sonnet-20241022",
    "max_tokens: 128000",
    'next_page_token = "CAESEAoA1234abcdEFGH5678"',
    'pad_token = "a1b2c3d4e5f6a7b8c9d0"',
    "token_count=1234567890123456789",
    "sk-...",
    "sk-proj-...",
    "gh" + "p_your_github_token_goes_here_0123456789",
    "the AK" + "IA prefix of an access key",
    "sk-toggleable__content-fitted-2",
    "sk-estimator-doc-link-hover-20",
    "risk-adjusted-return-of-2024-and-later-years-1",
    "h" + "f_hub_download_with_progress_and_a_long_name",
    "commit 9f3a7c1e5b2d80649f3a7c1e5b2d80649f3a7c1e",
    "fixed in 9f3a7c1 and 5b2d8064",
    "request 12345678-9abc-4def-8123-456789abcdef failed",
    'token = "12345678-9abc-4def-8123-456789abcdef"',
    "sha256:" + HEX * 4,
    "digest = '" + HEX * 4 + "'",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "reviewer/text/secret_assignments.py:120",
    "tests/fixtures/passwords/test_2fa_login_v2.py::test_password_reset_1",
    "The secret: keep it simple. The key: 2 reviewers.",
    "-----BEGIN PRIVATE KEY-----",
    "a file that starts with -----BEGIN RSA PRIVATE KEY----- and holds nothing else that matters",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE...\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PUBLIC KEY-----\n" + KEY_LINES + "\n-----END PUBLIC KEY-----",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN_FOR_THE_SERVICE_2",
    "headers = {'Authorization': f'Bearer {token}'}",
    "Basic understanding of the module",
    "postgres://user:password@localhost/app",
    "postgres://user:<password>@localhost/app",
    "git+ssh://git@github.com:22/org/repo.git",
    "http://localhost:8080/a@b",
    "docker://alpine:3.19@sha256:" + HEX * 4,
    "npm i pkg@1.2.3 && open http://127.0.0.1:3000",
    "passwd -l root; pass 1: compile, pass 2: link",
    "5 passed, 2 failed: test_token2, test_pass3",
    'if password == "": raise ValueError("password2 missing")',
    "ATTESTATION=eyJhbGciOiJub25lIn0.short",
    "https://hooks.slack.com/services/T.../B.../...",
    "username: string\npassword: required\n",
    "user: cfg.user\npassword: cfg.password\n",
    "email: ann@example.org\npassword: ${PASSWORD}\n",
    "log in as admin / operator to see it",
    '"auth": "required"',
    "The prefix is ghp_",
    "call npm_install_packages",
    "hf_hub_download",
    "see AIzaXXXXXXXX",
    "sk-proj-your-key-here",
    "run npm_config_registry",
    "the folder gh",
    f"certificate-authority-data: {ENCODED_CERTIFICATE}",
    "The password must have four words.",
    "POSTGRES_PASSWORD=postgres",
    "It costs $6$ or so.",
    "\u5bc6\u7801\u662f\u5fc5\u586b\u7684",
    "P: yes; WIFI: off",
    "Zero\u200bwidth and \uff26\uff35\uff2c\uff2c words",
    "Basic \u212aabcdefgh",  # a Kelvin sign, which equals k where case is ignored
    *ABOUT_PASSWORDS,
    *HARMLESS,
]


def test_a_mention_stays_unchanged() -> None:
    assert [text for text in MENTIONS if mask(text) != type(mask(""))(text, ())] == []


def test_kinds_are_listed_in_the_order_of_the_text() -> None:
    text = f'password="hunter2" then {"gh" + "p_"}{drawn(36)} then https://u:pw12@h'
    assert mask(text).kinds == ("password", "github-token", "url-password")


def test_masking_keeps_the_number_of_lines() -> None:
    text = f"-----BEGIN PRIVATE KEY-----\n{KEY_LINES}\n-----END PRIVATE KEY-----\nafter"
    assert mask(text).text.count("\n") == text.count("\n")


def readable(value: str, text: str) -> bool:
    """Whether more than a third of a value is still in a text, in one piece."""
    piece = max(4, len(value) // 3)
    return any(value[at : at + piece] in text for at in range(len(value) - piece + 1))


def test_every_planted_secret_is_masked() -> None:
    missed = [each for each in PLANTED if readable(each.value, mask(each.text).text)]
    assert missed == []


HASHED = "q7Zk3Vn9$" + drawn(40)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"ann:$apr1${HASHED}", HASHED),
        (f"root:$6${HASHED}:19000:0", HASHED),
        (f"hash $2y$10${drawn(53)}", f"10${drawn(53)}"),
        (f"tls.key: {ENCODED_KEY}", ENCODED_KEY[20:]),
        ("WIFI:T:WPA;S:desk;P:quarry\\;stone;;", "quarry"),
        ("The password is correct-horse-battery-staple.", "correct-horse-battery-staple"),
        ("log in with password correct-horse-battery-staple", "correct-horse-battery-staple"),
        ("DB_PASS=sunflower\nDB_HOST=x", "sunflower"),
        ("export MY_DB_PASSWORD=sunflower", "sunflower"),
        ("\u5bc6\u7801\u662f quarry71", "quarry71"),
        ("\u5bc6\u7801:quarry71", "quarry71"),
        ("Passwort: Quarry71!vz", "Quarry71!vz"),
        ("Kennwort ist quarry71", "quarry71"),
        ("gh" + "p_\u200b" + drawn(18) + "\u200b" + drawn(18), drawn(18)),
        ("".join(chr(ord(each) + 0xFEE0) for each in "gh" + "p_" + drawn(36)), chr(0xFF51)),
    ],
)
def test_credentials_in_other_notations_and_spellings_are_masked(text: str, value: str) -> None:
    masked = mask(text)
    assert len(masked.kinds) == 1
    assert value not in masked.text
    assert mask(masked.text).text == masked.text


def test_texts_may_be_searched_together() -> None:
    """The texts beside one hide no secret of it: whatever is stored in bulk relies on it."""
    for number, planted in enumerate(PLANTED):
        # Neighbours that were never masked, because those are not searched again.
        before, after = (
            f"{number} {HARMLESS[(number + step) % len(HARMLESS)]} {number}" for step in (0, 1)
        )
        texts = [before, planted.text, after]
        assert with_secrets(texts) == {text for text in texts if mask(text).kinds}, planted.where
    assert with_secrets(["nothing", "here"]) == set()


def test_the_secrets_themselves_can_be_listed() -> None:
    kind, prefix, body = FORMS[1]
    assert secrets_in(f"token = '{prefix}{body}' and nothing else") == [(body, kind)]
    assert secrets_in("nothing here") == []


@pytest.mark.parametrize("planted", SPELLED, ids=lambda planted: planted.where)
def test_a_password_is_masked_however_it_is_spelled(planted: Planted) -> None:
    for text in (planted.text, f"Note:\n{planted.text}\nand more"):
        masked = mask(text)
        assert masked.kinds
        assert planted.value not in masked.text
        assert mask(masked.text).text == masked.text
