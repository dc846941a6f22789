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
from collections.abc import Callable
from typing import NamedTuple

_SOURCE = random.Random(20261122)
LETTERS = string.ascii_letters + string.digits
BASE32 = string.ascii_uppercase + "234567"
SYMBOLS = "!#%&*+-?@^_~"


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


PREFIXES: dict[str, tuple[str, Callable[[], str]]] = {
    "aws access key": ("AK" + "IA", lambda: _drawn(16, BASE32)),
    "github": ("gh" + "p_", lambda: _drawn(36)),
    "github app": ("gh" + "s_", lambda: _drawn(36)),
    "github fine-grained": ("github" + "_pat_", lambda: _drawn(22) + "_" + _drawn(59)),
    "gitlab": ("gl" + "pat-", lambda: _drawn(20)),
    "anthropic": ("sk-" + "ant-api03-", lambda: _drawn(90) + "AA"),
    "openai": ("sk-" + "proj-", lambda: _drawn(64)),
    "openai old": ("sk-", lambda: _drawn(48)),
    "openrouter": ("sk-" + "or-v1-", lambda: _hex(64)),
    "slack": ("xo" + "xb-", lambda: f"{_SOURCE.randrange(10**11, 10**12)}-{_drawn(24)}"),
    "google": ("AI" + "za", lambda: _drawn(35)),
    "stripe": ("sk" + "_live_", lambda: _drawn(24)),
    "npm": ("np" + "m_", lambda: _drawn(36)),
    "pypi": ("py" + "pi-", lambda: "AgEIcHlwaS5vcmc" + _drawn(70)),
    "sendgrid": ("S" + "G.", lambda: _drawn(22) + "." + _drawn(43)),
    "hugging face": ("h" + "f_", lambda: _drawn(34)),
    "twilio": ("S" + "K", lambda: _hex(32)),
    "telegram": ("", lambda: f"{_SOURCE.randrange(10**8, 10**9)}:AA{_drawn(33)}"),
    "jwt": ("", _jwt),
    "digital ocean": ("do" + "p_v1_", lambda: _hex(64)),
    "groq": ("gs" + "k_", lambda: _drawn(52)),
    "vault": ("hv" + "s.", lambda: _drawn(32)),
    "databricks": ("da" + "pi", lambda: _hex(32)),
    "linear": ("lin" + "_api_", lambda: _drawn(40)),
    "docker": ("dck" + "r_pat_", lambda: _drawn(27)),
    "discord bot": (f"M{_drawn(25)}.{_drawn(6)}.", lambda: _drawn(38)),
    "mapbox": ("sk.", lambda: f"ey{'J'}{_drawn(60)}.{_drawn(22)}"),
    "1password": ("ops_" + "ey", lambda: "J" + _drawn(250)),
    "easypost": ("EZ" + "AK", lambda: _drawn(54)),
    "dynatrace": ("dt0" + "c01.", lambda: _drawn(24, BASE32) + "." + _drawn(64, BASE32)),
    "fly": ("FlyV1 fm2" + "_", lambda: _base64(90)),
    "nvidia": ("nv" + "api-", lambda: _drawn(64)),
    "cohere by name": ("COHERE_API_KEY=", lambda: _drawn(40)),
    "cerebras": ("cs" + "k-", lambda: _drawn(48)),
    "fireworks": ("fw" + "_", lambda: _drawn(24)),
    "elevenlabs by name": ("ELEVEN_API_KEY: sk_", lambda: _hex(48)),
    "langsmith": ("lsv2" + "_pt_", lambda: _hex(32) + "_" + _hex(10)),
    "posthog": ("ph" + "x_", lambda: _drawn(43)),
    "brevo": ("xkey" + "sib-", lambda: _hex(64) + "-" + _drawn(16)),
    "resend": ("re" + "_", lambda: _drawn(8) + "_" + _drawn(24)),
    "asana by name": ("ASANA_TOKEN=1/", lambda: "1204" + _hex(12) + ":" + _hex(32)),
    "buildkite": ("bk" + "ua_", lambda: _hex(40)),
    "fastly by name": ("FASTLY_API_TOKEN=", lambda: _drawn(32)),
    "confluent by name": ("CONFLUENT_CLOUD_API_SECRET=", lambda: _base64(48)),
    "cloudflare by name": ("CLOUDFLARE_API_TOKEN=", lambda: _drawn(40)),
    "datadog by name": ("DD_API_KEY=", lambda: _hex(32)),
    "heroku by name": ("HEROKU_API_KEY=", _uuid),
}

AROUND = [
    "Use {} for the staging deploy, please.",
    "export SERVICE={}",
    '{{"auth": "{}", "retries": 3}}',
    "curl -s -H 'X-Auth: {}' https://api.example.org/v1/items",
]


def _known_forms() -> list[Planted]:
    found = []
    for where, (prefix, body) in PREFIXES.items():
        for number, around in enumerate(AROUND):
            if where.endswith("by name") and number:
                continue
            value = body()
            text = prefix + value if where.endswith("by name") else around.format(prefix + value)
            found.append(Planted(f"{where}, {number}", text, value))
    return found


def _assigned() -> list[Planted]:
    """Configuration, code, commands."""
    templates: list[tuple[str, str, str]] = []

    def plant(where: str, template: str, value: str) -> None:
        templates.append((where, template, value))

    plant("env", "DATABASE_PASSWORD={}\nDATABASE_HOST=db", _password())
    plant("env", "SECRET_KEY={}", _drawn(50))
    plant("env", "export AWS_SECRET_ACCESS_KEY={}", _base64(30))
    plant("env", "JWT_SECRET={}", _hex(64))
    plant("env", "ENCRYPTION_KEY={}", _base64(32))
    plant("env", "SMTP_PASS='{}'", _password())
    plant("env", 'REDIS_PASSWORD="{}"', _password())
    plant("env", "NEXTAUTH_SECRET={}", _base64(32))
    plant("env", "SESSION_SECRET={}", _drawn(32))
    plant("env", "STRIPE_WEBHOOK_SECRET={}", _drawn(32))
    plant("env", "DJANGO_SECRET_KEY='django-insecure-{}'", _drawn(38))
    plant("env", "ADMIN_TOKEN={}", _hex(40))
    plant("python", 'password = "{}"', _password())
    plant("python", "client = Client(api_key='{}')", _drawn(32))
    plant("python", 'SECRET_KEY = "{}"', _drawn(50, LETTERS + SYMBOLS))
    plant("python", "conn = connect(host='db', user='ann', passwd='{}')", _password())
    plant("python", 'headers = {{"X-API-Key": "{}"}}', _drawn(40))
    plant("python", 'requests.get(url, auth=("ann", "{}"))', _password())
    plant("js", "const apiKey = '{}';", _drawn(36))
    plant("js", "mongoose.connect('mongodb+srv://app:{}@cluster0.example.net/x')", _password())
    plant("js", 'process.env.API_TOKEN = "{}";', _drawn(40))
    plant("ruby", "  secret_key_base: {}", _hex(128))
    plant("go", 'apiToken := "{}"', _drawn(40))
    plant("java", "spring.datasource.password={}", _password())
    plant("terraform", 'secret_key = "{}"', _base64(30))
    plant("yaml", "  password: {}", _password())
    plant("yaml", "    value: x\n    token: {}", _hex(40))
    plant("yaml", "  client-secret: {}", _drawn(40))
    plant("json", '{{"client_id": "web", "client_secret": "{}"}}', _drawn(40))
    plant("json", '{{"db": {{"user": "ann", "password": "{}"}}}}', _password())
    plant("json in json", '{{\\"access_token\\": \\"{}\\", \\"expires_in\\": 3600}}', _drawn(64))
    plant("json", '{{"refresh_token":"{}"}}', _drawn(90))
    plant("ini", "[db]\nuser = ann\npwd = {}", _password())
    plant("npmrc", "//registry.example.org/:_authToken={}", _uuid())
    plant("npmrc", "//registry.example.org/:_password={}", _base64(24))
    plant("netrc", "machine git.example.org login ann password {}", _password())
    plant("wireguard", "[Interface]\nPrivateKey = {}\nAddress = 10.0.0.2/32", _base64(32))
    plant(
        "azure",
        "Endpoint=sb://x.example.net/;SharedAccessKeyName=Root;SharedAccessKey={}",
        _base64(32),
    )
    plant("azure", "https://x.blob.example.net/c?sv=2022-11-02&sr=c&sig={}", _drawn(42) + "%3D")
    plant("ado", "Server=tcp:db;User ID=sa;Password={};Encrypt=True", _password())
    plant("jdbc", "jdbc:postgresql://db/app?user=ann&password={}", _password())
    plant("url", "postgresql://ann:{}@db.example.org:5432/app", _password().replace("#", "7"))
    plant("url", "https://ci:{}@git.example.org/team/repo.git", _drawn(20))
    plant("url", "amqp://guest:{}@mq:5672/", _password().replace("#", "7"))
    plant("url", "https://api.example.org/v1/items?access_token={}&page=2", _drawn(40))
    plant("url", "https://api.example.org/v1?key={}", _drawn(39))
    plant("url", "otpauth://totp/Desk:ann?secret={}&issuer=Desk", _drawn(32, BASE32))
    plant("curl", "curl -u ann:{} https://api.example.org", _password())
    plant("curl", "curl --user 'ann:{}' https://api.example.org", _password())
    plant("curl", "curl -H 'Authorization: Bearer {}' https://api.example.org", _drawn(40))
    plant("curl", 'curl -H "X-Auth-Token: {}" https://api.example.org', _hex(32))
    plant("curl", 'curl -d \'{{"password":"{}"}}\' https://api.example.org/login', _password())
    plant(
        "curl",
        "curl -d 'user=ann&password={}' https://api.example.org/login",
        _password().replace("#", "7").replace("&", "7"),
    )
    plant("curl", "curl -H 'PRIVATE-TOKEN: {}' https://git.example.org/api", _drawn(20))
    plant("command", "mysql -u ann -p{} app", _password().replace("!", "7").replace("&", "7"))
    plant("command", "mysql -h db --password='{}' app", _password())
    plant("command", "PGPASSWORD='{}' psql -h db -U ann", _password())
    plant("command", "sshpass -p '{}' ssh ann@db.example.org", _password())
    plant("command", "redis-cli -h cache -a {} ping", _drawn(24))
    plant("command", "docker login -u ann -p {} registry.example.org", _drawn(28))
    plant("command", "echo '{}' | docker login --password-stdin", _drawn(36))
    plant("command", "gh secret set DEPLOY_KEY --body '{}'", _drawn(40))
    plant("command", "vault login -method=token token={}", _drawn(28))
    plant("command", "openssl enc -aes-256-cbc -k {} -in x", _password())
    plant("command", "kubectl create secret generic db --from-literal=password={}", _password())
    plant("command", "helm upgrade x --set auth.password={}", _password())
    plant("command", "aws configure set aws_secret_access_key {}", _base64(30))
    plant("command", "az login --service-principal -u app -p {} --tenant t", _drawn(40))
    plant("command", "sudo -S <<< '{}' apt update", _password())
    plant("command", "$env:API_KEY = '{}'", _drawn(40))
    plant("command", 'setx SERVICE_TOKEN "{}"', _drawn(40))
    plant("header", "Cookie: sessionid={}; theme=dark", _drawn(32))
    plant("header", "Set-Cookie: session={}; HttpOnly; Secure", _drawn(64))
    plant("header", "x-api-key: {}", _drawn(40))
    plant("header", "Authorization: ApiKey {}", _drawn(48))
    plant("header", "Authorization: SSWS {}", _drawn(42))
    plant("xml", '<connection password="{}" user="ann"/>', _password())
    plant("xml", "<apiKey>{}</apiKey>", _drawn(40))
    plant("yaml", '- name: DB_PASSWORD\n  value: "{}"', _password())
    plant("php", "define('DB_PASSWORD', '{}');", _password())
    plant("xml", '<add key="ApiSecret" value="{}" />', _drawn(40))
    plant("shown", "| DB password | {} |", _password())
    plant("shown", "Password: {}", _password())
    plant("shown", "**API key:** `{}`", _drawn(40))
    return [Planted(where, template.format(value), value) for where, template, value in templates]


def _said() -> list[Planted]:
    """What people write to an agent."""
    told = [
        ("The admin password is {} - please do not lose it.", _password()),
        ('the db password is "{}"', _password()),
        ("my api key is {}", _drawn(40)),
        ("Our staging API key is `{}`; production has another.", _drawn(36)),
        ("here is the token: {}", _drawn(40)),
        ("Log in as ann with password {} and look at the dashboard.", _password()),
        ("user: ann / pass: {}", _password()),
        ("credentials: ann / {}", _password()),
        ("login ann, pw: {}", _password()),
        ("I set the secret to {} on both sides.", _drawn(32)),
        ("The wifi password is '{}'.", _password()),
        ("Use the bearer token {} for the calls.", _drawn(48)),
        ("the encryption key is {}", _hex(64)),
        ("Passwort: {}", _password()),
        ("El token es {}", _drawn(40)),
        ("root pw = {}", _password()),
        ('the passphrase for the key is "{}"', _password()),
        ("remember that the webhook secret is {}", _drawn(32)),
        ("The new password for deploy@db is {}.", _password()),
        ("access key {} belongs to the backup user", _drawn(40)),
    ]
    return [Planted("said", template.format(value), value) for template, value in told]


def _blocks() -> list[Planted]:
    kinds = ("RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY",
             "PGP PRIVATE KEY BLOCK", "ENCRYPTED PRIVATE KEY")  # fmt: skip
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
    "The passwd was wrong twice, so the account is locked.",
    "password -> hash -> compare: see login_form2",
    "a | password | required | min 8",
    "user.setPassword(newPassword); passwordField.set('value')",
    "CREATE USER a IDENTIFIED BY 'password'; -- change it",
    "ALTER ROLE a WITH PASSWORD NULL",
    "requirepass is unset in redis.conf",
    "echo $TOKEN | docker login --password-stdin",
    "htpasswd -B writes bcrypt; ConvertTo-SecureString $plain",
    "setx PATH and setx KEY_PATH stay",
    "The password is PBKDF2WithHmacSHA256 hashed.",
    "The key is useState2Value, the token is parseJSONWebToken.",
    "password&nbsp;field, 100&percnt; of passwords",
    "the password is required",
    "password: string",
    "apiKey: process.env.X",
    "The password is stored in the vault of the team.",
    "pw: none",
    "The password is sha256-hashed and base64-encoded.",
    "The password is 12-character long.",
    "password: pbkdf2",
    "Passwords are utf8mb4 in MySQL.",
    "src/a.py:1234:5:E501:line-too-long",
    "a:1234:b:c:version-2024",
    "*:*:*:postgres:password",
    "The pass is phase-2 of the compiler.",
    "The password is in docs/a%20b.md",
    "Tom &amp; Anna change the password each May.",
]
"""Prose about passwords, which stays."""

HARMLESS = [
    f"commit {_hex(40)}",
    f"Fixed in {_hex(7)}, reverted in {_hex(12)}.",
    f"Merge: {_hex(7)} {_hex(7)}",
    f"index {_hex(7)}..{_hex(7)} 100644",
    f"sha256:{_hex(64)}",
    f"{_hex(64)}  dist/reviewer-0.1.0.tar.gz",
    f"integrity sha512-{_base64(64)}",
    f'"integrity": "sha512-{_base64(64)}",',
    f"md5 ({_hex(32)}) of backup.tar",
    f'ETag: "{_hex(32)}"',
    f"request_id={_uuid()}",
    f"trace id {_hex(32)} span {_hex(16)}",
    f"session {_uuid()} was resumed",
    f'{{"sessionId":"{_uuid()}","parentUuid":"{_uuid()}"}}',
    f'{{"id":"msg_01{_drawn(22)}","type":"message"}}',
    f'{{"tool_use_id":"toolu_01{_drawn(22)}"}}',
    f"call_{_drawn(24)} returned nothing",
    f"chatcmpl-{_drawn(29)}",
    f"data:image/png;base64,iVBORw0KGgo{_base64(300)}",
    f"![logo](data:image/svg+xml;base64,{_base64(200)})",
    f'"signature": "{_base64(300)}"',
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_drawn(43)} ann@desk",
    f"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ{_base64(300)} ann@desk",
    f"ED25519 key fingerprint is SHA256:{_base64(32).rstrip('=')}.",
    _public_block("PUBLIC KEY"),
    _public_block("CERTIFICATE"),
    _public_block("PGP PUBLIC KEY BLOCK"),
    f"age1{_drawn(58, string.ascii_lowercase + string.digits)}",
    f"docker.io/library/python@sha256:{_hex(64)}",
    f"Image ID: {_hex(12)}",
    f"container {_hex(64)} exited",
    f"wallet 0x{_hex(40)}",
    f"tx 0x{_hex(64)}",
    f"arn:aws:iam::123456789012:role/Deploy-{_drawn(10)}",
    f"i-{_hex(17)} in subnet-{_hex(17)}",
    f"https://example.org/assets/app.{_hex(20)}.js",
    f"https://docs.example.org/d/{_drawn(44)}/edit#gid=0",
    f"https://youtu.be/{_drawn(11)}",
    f"https://example.org/p?utm_source=mail&utm_campaign={_drawn(20)}",
    f"s3://bucket/{_hex(32)}/part-0001.parquet",
    f"gs://models/{_uuid()}/weights.bin",
    f"Cache key: pip-{_hex(64)}",
    f"cache_key = 'user:{_uuid()}:profile'",
    f"primary key {_uuid()} already exists",
    f"foreign key constraint fk_{_hex(16)}_orders",
    f"partition key: {_drawn(24)}",
    f'public_key = "{_base64(32)}"',
    f"PublicKey = {_base64(32)}",
    "STRIPE_PUBLISHABLE_KEY=pk" + f"_live_{_drawn(24)}",
    f"client_id: {_drawn(32)}",
    f'client_id = "{_uuid()}"',
    f"nonce-{_base64(16)}",
    f"Content-Security-Policy: script-src 'nonce-{_base64(16)}'",
    f"idempotency_key: {_uuid()}",
    f"next_page_token: {_drawn(40)}",
    f"pageToken={_drawn(60)}&pageSize=20",
    f"cursor: {_base64(40)}",
    "csrf token missing or incorrect",
    "apiKey: process.env.OPENAI_API_KEY",
    "apiKey: import.meta.env.VITE_MAPS_KEY,",
    "api_key=os.environ['SERVICE_API_KEY'],",
    'api_key = os.getenv("GROQ_API_KEY", "")',
    "password = getpass.getpass('Password for ann: ')",
    "password: ${{ secrets.DB_PASSWORD }}",
    "TOKEN=$(vault kv get -field=token secret/ci)",
    "TOKEN=`cat /run/secrets/token`",
    "export API_KEY=$(op read op://vault/item/key)",
    "PASSWORD=${POSTGRES_PASSWORD:?is not set}",
    "password: !vault |",
    "password: {{ lookup('env', 'DB_PASSWORD') }}",
    "secret: valueFrom: secretKeyRef: name: db-credentials-v2 key: password",
    "passwordEncoder.encode(user.getPassword())",
    "const token = await getAccessTokenSilently({ audience });",
    "let token = req.headers['x-access-token'] || req.query.token;",
    "if (!token) throw new UnauthorizedError('TokenMissing401');",
    "token = jwt.encode(payload, settings.SECRET_KEY, algorithm='HS256')",
    "self.token = token or self._refresh_token_v2()",
    "auth_token: Optional[str] = Field(default=None, alias='authToken2')",
    "def verify_password(plain: str, hashed: str) -> bool:",
    "hashed_password = pwd_context.hash(user_in.password)",
    "type Token = { accessToken: string; refreshToken: string; expiresAt: number };",
    "password: z.string().min(12).max(128),",
    "password = models.CharField(max_length=128)",
    "OPENAI_API_KEY=sk-your-key-here",
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "ANTHROPIC_API_KEY=<your key>",
    "API_KEY=REPLACE_ME",
    "API_KEY=TODO",
    "api_key: YOUR_API_KEY_GOES_HERE",
    "password: changeme",
    "password: <redacted>",
    "password=********",
    "Authorization: Bearer ${TOKEN}",
    "Authorization: Bearer <access token>",
    "postgres://user:pass@localhost:5432/db",
    "postgres://$USER:$PASSWORD@$HOST/db",
    "mongodb://localhost:27017/app",
    "redis://localhost:6379/0",
    "git@github.com:team/repo.git",
    "https://user@example.org/repo.git",
    "We rotate the signing key every 90 days and never log a token.",
    "The password must have 12 characters, one digit and one of !#$.",
    "The token is invalid or expired (401).",
    "The secret is to write the test first.",
    "The key is that both sides agree on the order.",
    "password is required",
    "The password is wrong; the account is locked after 5 attempts.",
    "my api key is not accepted by the proxy",
    "The token is refreshed in refreshAccessTokenSilentlyV2.",
    "the password is stored as an argon2id hash",
    "The encryption key is derived with PBKDF2-HMAC-SHA256 and 600000 rounds.",
    "the api key is read from ~/.config/service/credentials.json",
    "passphrase: none",
    "pass: 12, fail: 0, skip: 3",
    "PASS tests/unit/test_tokens_v2.py::test_access_token_2 0.03s",
    "Input tokens: 128412, output tokens: 2214, cache: 99%",
    "max_tokens=4096, stop_token_ids=[128001, 128009]",
    "tokenizer.eos_token = '<|endoftext|>'",
    "monkey: banana42! turkey: dinner99!",
    "keyboard: QWERTY1234567890abc",
    "keyframes: fadeInUpBig3dTransform01",
    "t('password', 'newPassword2')",
    'getenv("API_KEY", "default-key-2")',
    "- name: PASSWORD_POLICY\n  value: 12-characters",
    "form.password, form.password2, form.token",
    "hotkey = 'ctrl+shift+alt+F12'",
    "key={index1} value={value1}",
    "sort key: created_at_2024_desc_nulls_last",
    "secretary: Marble42! office",
    "AuthenticationTokenProviderFactoryBean2",
    "TestCreatePersonalAccessTokenWithExpiryDate2024",
    "com.example.security.oauth2.client.token.JdbcClientTokenServices",
    "node_modules/@aws-sdk/credential-provider-node/dist-cjs/index.js:12",
    "src/components/PasswordResetForm/PasswordResetForm.test.tsx:88:14",
    "test-results/login-should-refresh-token-1a2b3c4d-chromium/trace.zip",
    "feature/JIRA-1234-rotate-api-keys-2024q3",
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-a1B2c3",
    "projects/desk/secrets/db-password/versions/3",
    "--password-file /run/secrets/db_password",
    "mysql -u ann -p app < dump.sql",
    "docker run -p 8080:80 -v /srv:/srv nginx:1.27",
    "ssh -p 2222 ann@db.example.org",
    "mkdir -p build/release-2024/x86_64-linux-gnu",
    "cp -a src/. /srv/app && tar -czf a1b2c3d4e5.tgz .",
    'curl -u "$USER:$TOKEN" https://api.example.org',
    "curl -u ann https://api.example.org",
    "grep -rn 'password' src | head -20",
    'rg -n "api[_-]?key" --type py',
    "Cookie: theme=dark; lang=en-GB",
    "Set-Cookie: session=deleted; Max-Age=0",
    "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    f"{_base64(60)}",
    f"  {_hex(8)}: {_hex(4)} {_hex(4)} {_hex(4)} {_hex(4)}  ................",
    f"go.sum: example.org/x v1.2.3 h1:{_base64(32)}",
    f'checksum = "{_hex(64)}"',
    f"python-multipart==0.0.9 --hash=sha256:{_hex(64)}",
    f"uses: actions/checkout@{_hex(40)}",
    f'rev = "{_hex(40)}"',
    f"GIT_COMMIT={_hex(40)}",
    f"BUILD_ID={_uuid()}",
    f"deviceId: {_hex(16)}",
    f"X-Request-Id: {_uuid()}",
    f"X-Amz-Cf-Id: {_base64(40)}",
    f"traceparent: 00-{_hex(32)}-{_hex(16)}-01",
    'WWW-Authenticate: Bearer realm="api", error="invalid_token"',
    f"cf-ray: {_hex(16)}-FRA",
    "Bearer tokens are sent in the Authorization header of every request.",
    "basic auth is off; BasicAuthenticationFilter2 is not registered",
    "e.g. sk-ant-..., sk-proj-... or ghp_...",
    "The secret-scanner-action-v2.1.0-linux-amd64 ran.",
    'class="sk-fading-circle-12 sk-circle-container-main-2"',
    "AKIA is the prefix of AWS access keys",
    "lorem-ipsum-dolor-sit-amet-consectetur-adipiscing-elit-2024-v2",
    "aVeryLongCamelCaseIdentifierWithNumbers2And3InTheMiddle",
    "SCREAMING_SNAKE_CASE_CONSTANT_NUMBER_42_FOR_TOKENS",
]
"""Texts without secrets, which must stay unchanged."""
