"""Secrets as people and programs leave them in transcripts, and what only looks like one.

Every value is drawn from a seeded generator; prefixes are joined to bodies here so that no scanner
stumbles over this file. A planted text names the value that must be gone.
"""

from __future__ import annotations

import base64
import json
import random
import string
import textwrap
from typing import NamedTuple

_SOURCE = random.Random(20261122)
LETTERS = string.ascii_letters + string.digits
BASE32 = string.ascii_uppercase + "234567"


class Planted(NamedTuple):
    """A text with a secret; `value` is what must not be readable any more."""

    where: str
    text: str
    value: str


def _drawn(length: int, alphabet: str = LETTERS) -> str:
    """A value with a letter first and at least two digits in it."""
    while True:
        value = "".join(_SOURCE.choice(alphabet) for _ in range(length))
        if value[0].isalpha() and sum(character.isdigit() for character in value) >= 2:
            return value


def _hex(length: int) -> str:
    return "".join(_SOURCE.choice("0123456789abcdef") for _ in range(length))


def _base64(length: int) -> str:
    return base64.b64encode(_SOURCE.randbytes(length)).decode()


def _uuid() -> str:
    return "-".join(_hex(length) for length in (8, 4, 4, 4, 12))


def _password() -> str:
    """As people choose them: a word, a number, a sign."""
    word = _SOURCE.choice(["Harbour", "winter", "Marble", "copper", "Lantern", "sparrow"])
    return f"{word}{_SOURCE.randrange(10, 99)}{_SOURCE.choice('!#$&*')}{_SOURCE.choice('qzkxv')}"


def _jwt() -> str:
    parts = ('{"alg":"HS256","typ":"JWT"}', json.dumps({"sub": str(_SOURCE.randrange(10**9))}))
    head, body = (base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts)
    return f"{head}.{body}.{_drawn(43)}"


def _key_block(kind: str) -> tuple[str, str]:
    lines = [_base64(48) for _ in range(6)]
    block = "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"])
    return block, lines[2]


FORMS: list[tuple[str, str, str]] = [
    ("aws-access-key", "AK" + "IA", _drawn(16, BASE32)),
    ("github-token", "gh" + "p_", _drawn(36)),
    ("github-token", "gh" + "s_", _drawn(36)),
    ("github-token", "github" + "_pat_", _drawn(22) + "_" + _drawn(59)),
    ("gitlab-token", "gl" + "pat-", _drawn(20)),
    ("anthropic-key", "sk-" + "ant-api03-", _drawn(90) + "AA"),
    ("openai-key", "sk-" + "proj-", _drawn(64)),
    ("api-key", "sk-", _drawn(48)),
    ("api-key", "sk-" + "or-v1-", _hex(64)),
    ("slack-token", "xo" + "xb-", f"{_SOURCE.randrange(10**11, 10**12)}-{_drawn(24)}"),
    ("google-key", "AI" + "za", _drawn(35)),
    ("stripe-key", "sk" + "_live_", _drawn(24)),
    ("npm-token", "np" + "m_", _drawn(36)),
    ("pypi-token", "py" + "pi-", "AgEIcHlwaS5vcmc" + _drawn(70)),
    ("sendgrid-key", "S" + "G.", _drawn(22) + "." + _drawn(43)),
    ("huggingface-token", "h" + "f_", _drawn(34)),
    ("twilio-key", "S" + "K", _hex(32)),
    ("telegram-token", "218926831:", f"AA{_drawn(33)}"),
    ("jwt", "ey" + "J", _jwt()[3:]),
    ("digitalocean-token", "do" + "p_v1_", _hex(64)),
    ("groq-key", "gs" + "k_", _drawn(52)),
    ("vault-token", "hv" + "s.", _drawn(32)),
    ("databricks-token", "da" + "pi", _hex(32)),
    ("linear-key", "lin" + "_api_", _drawn(40)),
    ("docker-token", "dck" + "r_pat_", _drawn(27)),
    ("discord-token", f"M{_drawn(25)}.{_drawn(6)}.", _drawn(38)),
    ("mapbox-token", "sk.ey" + "J", f"{_drawn(60)}.{_drawn(22)}"),
    ("1password-token", "ops_ey" + "J", _drawn(250)),
    ("easypost-key", "EZ" + "AK", _drawn(54)),
    ("dynatrace-token", "dt0" + "c01.", _drawn(24, BASE32) + "." + _drawn(64, BASE32)),
    ("fly-token", "fm2" + "_", _base64(90)),
    ("nvidia-key", "nv" + "api-", _drawn(64)),
    ("cerebras-key", "cs" + "k-", _drawn(48)),
    ("fireworks-key", "fw" + "_", _drawn(24)),
    ("langsmith-key", "lsv2" + "_pt_", _hex(32) + "_" + _hex(10)),
    ("posthog-key", "ph" + "x_", _drawn(43)),
    ("brevo-key", "xkey" + "sib-", _hex(64) + "-" + _drawn(16)),
    ("resend-key", "re" + "_", _drawn(8) + "_" + _drawn(24)),
    ("buildkite-token", "bk" + "ua_", _hex(40)),
    ("github-token", "gh" + "o_", _drawn(36)),
    ("aws-access-key", "AS" + "IA", _drawn(16, BASE32)),
    ("stripe-key", "rk" + "_live_", _drawn(24)),
    ("slack-token", "xo" + "xp-", f"12345678-12345678-{_drawn(20)}"),
    ("api-key", "sk-", f"{_drawn(16)}.{_drawn(16)}"),
    ("webhook-secret", "wh" + "sec_", _drawn(32)),
]
"""Kind, prefix and body of credentials with a known prefix."""

AROUND = (
    "{}",
    "use {} here",
    "token = '{}'",
    '{{"key": "{}"}}',
    "see ({}), then",
    "KEY={}\nB=1",
    "é{}",
)


def _known_forms() -> list[Planted]:
    return [
        Planted(kind, AROUND[number % len(AROUND)].format(prefix + body), body)
        for number, (kind, prefix, body) in enumerate(FORMS)
    ]


def _assigned() -> list[Planted]:
    """Configuration, code, commands."""
    templates: list[tuple[str, str, str]] = []

    def plant(where: str, template: str, value: str) -> None:
        templates.append((where, template, value))

    plant("env", "DATABASE_PASSWORD={}\nDATABASE_HOST=db", _password())
    plant("datadog", "DD_API_KEY={}", _hex(32))
    plant("heroku", "HEROKU_API_KEY={}", _uuid())
    plant("env", "ENCRYPTION_KEY={}", _base64(32))
    plant("env", "NEXTAUTH_SECRET={}", _base64(32))
    plant("env", "DJANGO_SECRET_KEY='django-insecure-{}'", _drawn(38))
    plant("python", 'requests.get(url, auth=("ann", "{}"))', _password())
    plant("js", "mongoose.connect('mongodb+srv://app:{}@cluster0.example.net/x')", _drawn(12))
    plant("ruby", "  secret_key_base: {}", _hex(128))
    plant("go", 'apiToken := "{}"', _drawn(40))
    plant("json", '{{"db": {{"user": "ann", "password": "{}"}}}}', _password())
    plant("ini", "[db]\nuser = ann\npwd = {}", _password())
    plant("npmrc", "//registry.example.org/:_authToken={}", _uuid())
    plant("wireguard", "[Interface]\nPrivateKey = {}\nAddress = 10.0.0.2/32", _base64(32))
    plant("azure", "https://x.blob.example.net/c?sv=2022-11-02&sr=c&sig={}", _drawn(42) + "%3D")
    plant("jdbc", "jdbc:postgresql://db/app?user=ann&password={}", _password())
    plant("url", "postgresql://ann:{}@db.example.org:5432/app", _password().replace("#", "7"))
    plant("url", "amqp://guest:{}@mq:5672/", _password().replace("#", "7"))
    plant("url", "https://api.example.org/v1?key={}", _drawn(39))
    plant("url", "otpauth://totp/Desk:ann?secret={}&issuer=Desk", _drawn(32, BASE32))
    plant("curl", "curl -u ann:{} https://api.example.org", _password())
    plant("curl", "curl --user 'ann:{}' https://api.example.org", _password())
    plant("command", "mysql -u ann -p{} app", _password().replace("!", "7").replace("&", "7"))
    plant("command", "sshpass -p '{}' ssh ann@db.example.org", _password())
    plant("command", "redis-cli -h cache -a {} ping", _drawn(24))
    plant("command", "docker login -u ann -p {} registry.example.org", _drawn(28))
    plant("command", "echo '{}' | docker login --password-stdin", _drawn(36))
    plant("command", "gh secret set DEPLOY_KEY --body '{}'", _drawn(40))
    plant("command", "vault login -method=token token={}", _drawn(28))
    plant("command", "openssl enc -aes-256-cbc -k {} -in x", _password())
    plant("command", "kubectl create secret generic db --from-literal=password={}", _password())
    plant("command", "aws configure set aws_secret_access_key {}", _base64(30))
    plant("command", "az login --service-principal -u app -p {} --tenant t", _drawn(40))
    plant("command", "sudo -S <<< '{}' apt update", _password())
    plant("command", 'setx SERVICE_TOKEN "{}"', _drawn(40))
    plant("header", "Cookie: sessionid={}; theme=dark", _drawn(32))
    plant("header", "Set-Cookie: session={}; HttpOnly; Secure", _drawn(64))
    plant("header", "x-api-key: {}", _drawn(40))
    plant("header", "Authorization: ApiKey {}", _drawn(48))
    plant("header", "Authorization: SSWS {}", _drawn(42))
    plant("xml", "<apiKey>{}</apiKey>", _drawn(40))
    plant("yaml", '- name: DB_PASSWORD\n  value: "{}"', _password())
    plant("php", "define('DB_PASSWORD', '{}');", _password())
    plant("xml", '<add key="ApiSecret" value="{}" />', _drawn(40))
    plant("shown", "**API key:** `{}`", _drawn(40))
    return [Planted(where, template.format(value), value) for where, template, value in templates]


def _said() -> list[Planted]:
    """What people write to an agent."""
    told = [
        ("The admin password is {} - please do not lose it.", _password()),
        ("Our staging API key is `{}`; production has another.", _drawn(36)),
        ("here is the token: {}", _drawn(40)),
        ("credentials: ann / {}", _password()),
        ("login ann, pw: {}", _password()),
        ("I set the secret to {} on both sides.", _drawn(32)),
        ("the encryption key is {}", _hex(64)),
        ("Passwort: {}", _password()),
        ("El token es {}", _drawn(40)),
        ("root pw = {}", _password()),
        ('the passphrase for the key is "{}"', _password()),
        ("remember that the webhook secret is {}", _drawn(32)),
        ("access key {} belongs to the backup user", _drawn(40)),
    ]
    return [Planted("said", template.format(value), value) for template, value in told]


def _blocks() -> list[Planted]:
    kinds = ("RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK")
    found = []
    for kind in kinds:
        block, value = _key_block(kind)
        found.append(Planted(kind, f"Here it is:\n\n{block}\n\nkeep it", value))
    block, value = _key_block("PRIVATE KEY")
    found.append(Planted("service account", json.dumps({"private_key": block}), value))
    block, value = _key_block("RSA PRIVATE KEY")
    indented = "\n".join(f"      {line}" for line in block.splitlines())
    found.append(Planted("yaml block", f"tls.key: |\n{indented}", value))
    block, value = _key_block("RSA PRIVATE KEY")
    numbered = "\n".join(f"{n:6d}\t{line}" for n, line in enumerate(block.splitlines(), 1))
    found.append(Planted("numbered lines of a tool", numbered, value))
    block, value = _key_block("OPENSSH PRIVATE KEY")
    patch = "\n".join(f"+{line}" for line in block.splitlines())
    found.append(Planted("diff", patch, value))
    return found


PLANTED = [*_known_forms(), *_assigned(), *_said(), *_blocks()]


def _public_block(kind: str) -> str:
    return _key_block(kind)[0]


SPELLED = [
    Planted("escaped three times", r"\\\"password\\\":\\\"Sommer-2024\\\"", "Sommer-2024"),
    Planted("an address in an address", "next=a%3Fpassword%253DSommer-2024", "Sommer-2024"),
    Planted("a letter as an entity", "&#112;assword: Sommer-2024", "Sommer-2024"),
    Planted("signs as entities", "password&equals;hunter22x", "hunter22x"),
    Planted("JavaScript", "password\\x3d'Sommer-2024'", "Sommer-2024"),
    Planted("blanks of a web page", "Password\u00a0:\u00a0Sommer-2024", "Sommer-2024"),
    Planted("a small colon", "password\ufe55Sommer-2024", "Sommer-2024"),
    Planted("an arrow", "password -> Sommer-2024", "Sommer-2024"),
    Planted("another word", "the passwd was Sommer-2024", "Sommer-2024"),
    Planted("random letters", "**Password:** Kx7pQ2vLm9Zt4R", "Kx7pQ2vLm9Zt4R"),
    Planted("a table", "| password | Kx7pQ2vLm9Zt4R |", "Kx7pQ2vLm9Zt4R"),
    Planted("German", "Kennwort lautet Sommer-2024", "Sommer-2024"),
    Planted("SQL", "CREATE USER a IDENTIFIED BY 'Sommer-2024'", "Sommer-2024"),
    Planted("PostgreSQL", "ALTER ROLE a WITH PASSWORD 'hunter22x'", "hunter22x"),
    Planted("Redis", "requirepass Sommer-2024", "Sommer-2024"),
    Planted("a call", 'source.setPassword("Sommer-2024");', "Sommer-2024"),
    Planted("an option", "gpg --passphrase Sommer-2024 -d a.gpg", "Sommer-2024"),
    Planted("mysql", "mysql -pSommer-2024 -u root", "Sommer-2024"),
    Planted("sudo", "echo Sommer-2024 | sudo -S ls", "Sommer-2024"),
    Planted("docker", "echo 'hunter22x' | docker login --password-stdin", "hunter22x"),
    Planted("htpasswd", "htpasswd -cb users ann Sommer-2024", "Sommer-2024"),
    Planted("chpasswd", "chpasswd <<< 'root:Sommer-2024'", "Sommer-2024"),
    Planted("setx", "setx DB_PASSWORD hunter22x", "hunter22x"),
    Planted("PowerShell", "ConvertTo-SecureString 'Sommer-2024' -Force", "Sommer-2024"),
    Planted("a sentence", "the password is Sommer-2024", "Sommer-2024"),
    Planted("a note", "pw: hunter22x", "hunter22x"),
    Planted("another language", "contraseña: Verano-2024x", "Verano-2024x"),
    Planted(
        "an address", "https://a.example/?user=a&password%3DSommer-2024%26next=1", "Sommer-2024"
    ),
    Planted("HTML", "password=&quot;Sommer-2024&quot;", "Sommer-2024"),
    Planted("JSON", '{"pass\\u0077ord": "Sommer-2024"}', "Sommer-2024"),
    Planted("pgpass", "db.example.org:5432:shop:anna:Sommer-2024", "Sommer-2024"),
    Planted("pgpass, any base, a word", "db:5432:*:anna:sunflower", "sunflower"),
    Planted("an address, letters too", "https://a.example/?pass%77ord=S0mmer!24", "S0mmer!24"),
    Planted(
        "a token in base64",
        base64.b64encode(b"ghp_q7Zk3Vn9Tb1Xw5Rm8Lc2Pd6Hs4Jf0GyAbCdE").decode(),
        base64.b64encode(b"ghp_q7Zk3Vn9Tb1Xw5Rm8Lc2Pd6Hs4Jf0GyAbCdE").decode()[8:],
    ),
    Planted(
        "base64 in lines",
        "\n".join(
            textwrap.wrap(
                base64.b64encode(
                    b"-----BEGIN OPENSSH PRIVATE KEY-----\n"
                    + base64.b64encode(b"\0openssh-key-v1" * 12)
                    + b"\n-----END OPENSSH PRIVATE KEY-----"
                ).decode(),
                64,
            )
        ),
        "b3BlbnNzaC1rZXktdjE",
    ),
]
"""Passwords as people choose them, and spellings that hide one."""

ABOUT_PASSWORDS = [
    "password -> hash -> compare: see login_form2",
    "user.setPassword(newPassword); passwordField.set('value')",
    "ALTER ROLE a WITH PASSWORD NULL",
    "echo $TOKEN | docker login --password-stdin",
    "setx PATH and setx KEY_PATH stay",
    "The password is PBKDF2WithHmacSHA256 hashed.",
    "password&nbsp;field, 100&percnt; of passwords",
    "pw: none",
    "password: pbkdf2",
    "src/a.py:1234:5:E501:line-too-long",
    "a:1234:b:c:version-2024",
    "*:*:*:postgres:password",
    "The password is in docs/a%20b.md",
    "Tom &amp; Anna change the password each May.",
]
"""Prose about passwords, which stays."""

HARMLESS = [
    f"commit {_hex(40)}",
    f"Fixed in {_hex(7)}, reverted in {_hex(12)}.",
    f"{_hex(64)}  dist/reviewer-0.1.0.tar.gz",
    f'"integrity": "sha512-{_base64(64)}",',
    f"request_id={_uuid()}",
    f'{{"id":"msg_01{_drawn(22)}","type":"message"}}',
    f"call_{_drawn(24)} returned nothing",
    f"data:image/png;base64,iVBORw0KGgo{_base64(300)}",
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_drawn(43)} ann@desk",
    f"ED25519 key fingerprint is SHA256:{_base64(32).rstrip('=')}.",
    _public_block("PUBLIC KEY"),
    _public_block("CERTIFICATE"),
    f"age1{_drawn(58, string.ascii_lowercase + string.digits)}",
    f"wallet 0x{_hex(40)}",
    f"arn:aws:iam::123456789012:role/Deploy-{_drawn(10)}",
    f"i-{_hex(17)} in subnet-{_hex(17)}",
    f"https://docs.example.org/d/{_drawn(44)}/edit#gid=0",
    f"https://example.org/p?utm_source=mail&utm_campaign={_drawn(20)}",
    f"s3://bucket/{_hex(32)}/part-0001.parquet",
    f"Cache key: pip-{_hex(64)}",
    f"PublicKey = {_base64(32)}",
    "STRIPE_PUBLISHABLE_KEY=pk" + f"_live_{_drawn(24)}",
    f"client_id: {_drawn(32)}",
    f"nonce-{_base64(16)}",
    f"next_page_token: {_drawn(40)}",
    f"pageToken={_drawn(60)}&pageSize=20",
    "password: ${{ secrets.DB_PASSWORD }}",
    "PASSWORD=${POSTGRES_PASSWORD:?is not set}",
    "password: !vault |",
    "passwordEncoder.encode(user.getPassword())",
    "if (!token) throw new UnauthorizedError('TokenMissing401');",
    "password: z.string().min(12).max(128),",
    "API_KEY=REPLACE_ME",
    "password: changeme",
    "Authorization: Bearer ${TOKEN}",
    "postgres://user:pass@localhost:5432/db",
    "redis://localhost:6379/0",
    "git@github.com:team/repo.git",
    "The password must have 12 characters, one digit and one of !#$.",
    "The secret is to write the test first.",
    "my api key is not accepted by the proxy",
    "the api key is read from ~/.config/service/credentials.json",
    "max_tokens=4096, stop_token_ids=[128001, 128009]",
    "monkey: banana42! turkey: dinner99!",
    "t('password', 'newPassword2')",
    "- name: PASSWORD_POLICY\n  value: 12-characters",
    "sort key: created_at_2024_desc_nulls_last",
    "secretary: Marble42! office",
    "TestCreatePersonalAccessTokenWithExpiryDate2024",
    "node_modules/@aws-sdk/credential-provider-node/dist-cjs/index.js:12",
    "test-results/login-should-refresh-token-1a2b3c4d-chromium/trace.zip",
    "--password-file /run/secrets/db_password",
    "mysql -u ann -p app < dump.sql",
    "mkdir -p build/release-2024/x86_64-linux-gnu",
    'curl -u "$USER:$TOKEN" https://api.example.org',
    "grep -rn 'password' src | head -20",
    "Cookie: theme=dark; lang=en-GB",
    "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    f"{_base64(60)}",
    f"  {_hex(8)}: {_hex(4)} {_hex(4)} {_hex(4)} {_hex(4)}  ................",
    f"uses: actions/checkout@{_hex(40)}",
    f"traceparent: 00-{_hex(32)}-{_hex(16)}-01",
    'WWW-Authenticate: Bearer realm="api", error="invalid_token"',
    "basic auth is off; BasicAuthenticationFilter2 is not registered",
    "e.g. sk-ant-..., sk-proj-... or ghp_...",
    "The secret-scanner-action-v2.1.0-linux-amd64 ran.",
    'class="sk-fading-circle-12 sk-circle-container-main-2"',
    "lorem-ipsum-dolor-sit-amet-consectetur-adipiscing-elit-2024-v2",
]
"""Texts without secrets, which must stay unchanged."""
