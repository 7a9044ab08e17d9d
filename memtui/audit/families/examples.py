"""Keys, numbers and passwords that are made up, for the examples of the rules and for the tests.

None stands in the source, where it would be found by every program that looks for such: each is put together when it
is asked for, from a prefix and letters that come out of a seeded source. They are sound, with their checksums, and
nobody ever issued them.
"""

import base64
import json
import random
import re
import uuid
import zlib

from memtui.notes.secrets.checksums import base58, base62, luhn, mod_11_10, verhoeff

_LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
_KINDS = {
    "w": _LETTERS + "23456789",
    "x": "0123456789abcdef",
    "A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "U": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "d": "0123456789",
    "l": "abcdefghijklmnopqrstuvwxyz0123456789",
    "b": "abcdefghijklmnopqrstuvwxyz234567",
}
_PART = re.compile(r"%([wxAUdlb])(\d+)|%([ucm])")

TEMPLATES: dict[str, tuple[str, ...]] = {
    "anthropic-key": ("sk-ant-%m%w93AA",),
    "openai-key": ("sk-%mproj-%w74", "sk-%w20T3Blbk%mFJ%w20"),
    "openrouter-key": ("sk-or-%mv1-%x64",),
    "model-key": ("sk-%m%w4%x32",),
    "groq-key": ("gsk_%m%w52",),
    "xai-key": ("xai-%m%w80",),
    "perplexity-key": ("pplx-%m%w48",),
    "replicate-token": ("r8_%m%w37",),
    "huggingface-token": ("hf_%m%w34",),
    "nvidia-key": ("nvapi-%m%w64",),
    "langsmith-key": ("lsv2_%mpt_%x32_%x10",),
    "elevenlabs-key": ("sk_%m%x48",),
    "pinecone-key": ("pcsk_%m%w70",),
    "tavily-key": ("tvly-%mdev-%w32",),
    "cerebras-key": ("csk-%m%l48",),
    "bedrock-key": ("ABSK%m%w112",),
    "github-token": ("ghp_%m%w30%c", "gho_%m%w30%c", "github_%mpat_%w22_%w59"),
    "gitlab-token": ("glpat-%m%w20", "gldt-%m%w20"),
    "bitbucket-token": ("ATBB%m%w32",),
    "atlassian-token": ("ATATT3%mxFfGF0%w170",),
    "azure-devops-token": ("%w76AZ%mDO%w4",),
    "sourcegraph-token": ("sgp_%m%x16_%x40",),
    "buildkite-token": ("bkua_%m%x40",),
    "circleci-token": ("CCIPAT_%m%w22_%x40",),
    "sonar-token": ("squ_%m%x40",),
    "launchdarkly-key": ("sdk-%m%u",),
    "npm-token": ("npm_%m%w30%c",),
    "pypi-token": ("pypi-%mAgEIcHlwaS5vcmc%w120",),
    "crates-token": ("cio%m%w32",),
    "rubygems-key": ("rubygems_%m%x48",),
    "nuget-key": ("oy2%m%l43",),
    "clojars-token": ("CLOJARS_%m%x60",),
    "docker-token": ("dckr_%mpat_%w27",),
    "artifactory-token": ("AKCp%m%w69",),
    "aws-key": ("AKIA%m%A16",),
    "google-key": ("AIza%m%w35",),
    "google-token": ("ya29.%m%w60", "1//0%m%w60"),
    "google-secret": ("GOCSPX-%m%w28",),
    "azure-key": ("Account%mKey=%w86==",),
    "azure-secret": ("%w3%d1Q~%m%w31",),
    "azure-signature": ("sv=2024-11-04&ss=b&sig=%m%w43%%3D",),
    "digitalocean-token": ("dop_%mv1_%x64",),
    "heroku-key": ("HRKU-%m%u",),
    "cloudflare-token": ("cfut_%m%w48",),
    "cloudflare-key": ("v1.0-%m%x24-%x146",),
    "vercel-token": ("vcp_%m%w56",),
    "netlify-token": ("nfp_%m%w36",),
    "supabase-token": ("sbp_%m%x40",),
    "supabase-key": ("sb_%msecret_%w31",),
    "fly-token": ("fo1_%m%w43",),
    "databricks-token": ("dapi%m%x32",),
    "planetscale-token": ("pscale_%mtkn_%w43",),
    "alibaba-key": ("LTAI%m%w20",),
    "tencent-key": ("AKID%m%w32",),
    "vault-token": ("hvs.%m%w95",),
    "terraform-token": ("%w14.atl%masv1.%w67",),
    "pulumi-token": ("pul-%m%x40",),
    "doppler-token": ("dp.%mpt.%w43",),
    "onepassword-token": ("ops_%meyJ%w400",),
    "onepassword-key": ("A3-%m%U6-%U6-%U5-%U5-%U5-%U5",),
    "tailscale-key": ("tskey-%mauth-%w12CNTRL-%w32",),
    "ngrok-key": ("ak_%m%w27",),
    "slack-token": ("xoxb-%m%d12-%d13-%w24",),
    "slack-hook": ("https://hooks.%mslack.com/services/T%U9/B%U10/%w24",),
    "discord-hook": ("https://disc%mord.com/api/webhooks/%d18/%w68",),
    "teams-hook": ("https://contoso.webhook.%moffice.com/webhookb2/%u@%u/IncomingWebhook/%x32/%u",),
    "telegram-token": ("%d10:A%mA%w33",),
    "twilio-key": ("SK%m%x32",),
    "sendgrid-key": ("SG.%m%w22.%w43",),
    "mailgun-key": ("key-%m%x32", "%x32-%m%x8-%x8"),
    "mailchimp-key": ("%x32-%mus14",),
    "brevo-key": ("xkeysib-%m%x64-%w16",),
    "stripe-key": ("sk_%mlive_%w48",),
    "stripe-hook": ("whsec_%m%w32",),
    "shopify-token": ("shpat_%m%x32",),
    "square-token": ("EAAA%m%w60",),
    "braintree-token": ("access_%mtoken$production$%l16$%x32",),
    "mollie-key": ("live_%m%w30",),
    "plaid-token": ("access-%mproduction-%u",),
    "easypost-key": ("EZ%mAK%w54",),
    "shippo-token": ("shippo_%mlive_%x40",),
    "sentry-token": ("sntryu_%m%x64",),
    "newrelic-key": ("NRAK-%m%U27",),
    "grafana-token": ("glsa_%m%w32_%x8",),
    "dynatrace-token": ("dt0c01.%m%U24.%U64",),
    "posthog-key": ("phx_%m%w43",),
    "linear-key": ("lin_%mapi_%w40",),
    "notion-token": ("ntn_%m%d11%w35",),
    "airtable-token": ("pat%m%w14.%x64",),
    "figma-token": ("figd_%m%w40",),
    "postman-key": ("PMAK-%m%x24-%x34",),
    "hubspot-token": ("pat-%mna1-%u",),
    "contentful-token": ("CFPAT-%m%w43",),
    "typeform-token": ("tfp_%m%w44",),
    "asana-token": ("1/%d16:%m%x32",),
    "age-key": ("AGE-SECRET-%mKEY-1%A58",),
    "together-key": ("tgp_v1_%m%w43",),
    "fireworks-key": ("fw_%m%w24",),
    "voyage-key": ("pa-%m%w43",),
    "jina-key": ("jina_%m%x32%w28",),
    "firecrawl-key": ("fc-%m%x32",),
    "etwob-key": ("e2b_%m%x40",),
    "browserbase-key": ("bb_%mlive_%w27",),
    "apify-token": ("apify_%mapi_%w36",),
    "langfuse-key": ("sk-%mlf-%u",),
    "helicone-key": ("sk-%mhelicone-%l7-%l7-%l7-%l7",),
    "wandb-key": ("wandb_%mv1_%w80",),
    "runpod-key": ("rpa_%m%U40%l6",),
    "modal-token": ("ak-%m%w22",),
    "llamacloud-key": ("llx-%m%w48",),
    "memzero-key": ("m0-%m%w40",),
    "cursor-key": ("crsr_%m%x64",),
    "nodemation-key": ("n8n_api_%meyJ%w160",),
    "harness-token": ("pat.%m%w22.%x24.%w20",),
    "octopus-key": ("API-%m%U26",),
    "depot-token": ("depot_%morg_%x64",),
    "infracost-key": ("ico-%m%w32",),
    "prefect-key": ("pnu_%m%w36",),
    "yandex-key": ("AQVN%m%w36", "y0_%m%w56"),
    "upcloud-token": ("ucat_%m%U26",),
    "render-key": ("rnd_%m%w32",),
    "appsync-key": ("da2-%m%l26",),
    "amazon-secret": ("amzn1.oa2-%mcs.v1.%x64", "amzn.%mmws.%u"),
    "neon-key": ("napi_%m%l64",),
    "aiven-password": ("AVNS_%m%w19",),
    "mongodb-secret": ("mdb_sa_%msk_%w40",),
    "confluent-key": ("cflt%m%w60",),
    "cockroach-key": ("CCDB1_%m%w22_%w40",),
    "clickhouse-key": ("4b1d%m%w38",),
    "astra-token": ("AstraCS:%mqWbNvTkRjHgFdSzXcLpMwQyZ:%x64",),
    "openshift-token": ("sha256~%m%w43",),
    "rancher-token": ("token-%m%l5:%l54",),
    "scalingo-token": ("tk-us-%m%w48",),
    "bitwarden-token": ("0.%m%u.%w30:%w22==",),
    "jumpcloud-key": ("jca_%m%w36",),
    "resend-key": ("re_%m%w8_%w24",),
    "mailersend-token": ("mlsn.%m%x64",),
    "onesignal-key": ("os_v2_%mapp_%b103",),
    "klaviyo-key": ("pk_%m%x34",),
    "facebook-token": ("EAA%m%w180",),
    "twitter-token": ("AAAAAAAAAA%mAAAAAAAAAAAA%w24%%%d1D%w48",),
    "linkedin-secret": ("WPL_%mAP1.%w16.%w6==",),
    "zapier-hook": ("https://hooks.%mzapier.com/hooks/catch/%d7/b%l6",),
    "paddle-key": ("pdl_%mlive_apikey_%l26_%w22_%w3",),
    "flutterwave-key": ("FLWSECK-%m%x32-X",),
    "duffel-token": ("duffel_%mlive_%w43",),
    "mercadopago-token": ("APP_USR-%m%d16-%d6-%x32-%d9",),
    "polar-token": ("polar_%moat_%w43",),
    "honeycomb-key": ("hcaik_%m%l58",),
    "axiom-token": ("xaat-%m%u",),
    "checkly-key": ("cu_%m%x32",),
    "statsig-key": ("secret-%m%w43",),
    "segment-token": ("sgp_%m%w64",),
    "clickup-token": ("pk_%m%d8_%U32",),
    "trello-token": ("ATTA%m%x72",),
    "salesforce-token": ("00D%m%w12!%w90",),
    "dropbox-token": ("sl.%mu.%w140",),
    "readme-key": ("rdme_%m%l70",),
    "adafruit-key": ("aio_%m%w28",),
    "mapbox-token": ("sk.%meyJ1%w80.%w22",),
    "minisign-key": ("RWRT%mY0Iy%w204",),
    "aws-secret": ("aws_secret_%maccess_key = %w40",),
    "datadog-key": ("DD_%mAPI_KEY=%x32",),
    "wireguard-key": ("Private%mKey = %w42Y=",),
    "authorization-header": ("Authorization: %mBearer %w40",),
    "password-in-address": ("postgres://app:%m%w14@db.internal/app",),
    "password-assignment": ("password: %m%w9%d3", "DB_%mPASSWORD=%w14", '{"api_%mkey": "%w32"}'),
    "registry-token": ("//npm.example.com/:_auth%mToken=%u",),
    "registry-login": ('{"auths": {"r.example.com": {"au%mth": "YXBwOmdSN%m3hRMnZMOW1Y"}}}',),
    "password-hash": ("deploy:$ap%mr1$%w8$%w22",),
    "private-key": ("-----BEGIN %mOPENSSH PRIVATE KEY-----\n%w70\n%w70\n-----END %mOPENSSH PRIVATE KEY-----",),
    "google-account": ('{"type": "service_%maccount", "private_key": "-----BEGIN %mPRIVATE KEY-----\\n%w64\\n"}',),
}
"""How each is put together: `%w8` eight letters and digits, `%x` hexadecimal, `%A` base 32, `%U` capitals and digits,
`%d` digits, `%l` small letters and digits, `%b` those of base 32, `%u` a UUID, `%c` the checksum of the letters before;
`%m` is nothing, and keeps the prefix from standing here in one piece."""


def made_up(rule: str, seed: int = 0) -> str:
    """Something that a rule finds, put together from a seed.

    Raises:
        KeyError: There is no such rule.
    """
    source = random.Random(f"{rule}/{seed}")
    if rule in _MADE:
        return _MADE[rule](source)
    templates = TEMPLATES[rule]
    last = ""

    def put(found: re.Match[str]) -> str:
        nonlocal last
        if found[1]:
            last = "".join(source.choice(_KINDS[found[1]]) for _ in range(int(found[2])))
            if found[1] in "wlUx" and len(last) > 4:
                last = (
                    last[:2] + ("7" if found[1] != "x" else "9") + last[3:-1] + ("k" if found[1] in "wl" else last[-1])
                )
            return last
        if found[3] == "u":
            return str(uuid.UUID(int=source.getrandbits(128), version=4))
        return base62(zlib.crc32(last.encode())) if found[3] == "c" else ""

    return _PART.sub(put, templates[seed % len(templates)]).replace("%%", "%")


def _digits(source: random.Random, count: int) -> str:
    return "".join(source.choice("0123456789") for _ in range(count))


def _completed(head: str, is_sound: object) -> str:
    """A number with the last digit that makes it sound."""
    assert callable(is_sound)
    return next(head + digit for digit in "0123456789" if is_sound(head + digit))


def _card(source: random.Random) -> str:
    head, size = source.choice((("4", 16), ("52", 16), ("37", 15), ("6011", 16), ("3530", 16)))
    while True:
        number = _completed(head + _digits(source, size - len(head) - 1), luhn)
        if len(set(number)) > 6 and not re.search(r"(\d)\1{3}", number):
            break
    if size == 15:
        return f"card {number[:4]} {number[4:10]} {number[10:]}"
    by = source.choice(" -")
    return "card " + by.join(number[start : start + 4] for start in range(0, 16, 4))


def _national(source: random.Random) -> str:
    match source.randrange(6):
        case 0:
            area, group, serial = source.randrange(100, 600), source.randrange(10, 99), source.randrange(1000, 9999)
            return f"SSN: {area}-{group}-{serial}"
        case 1:
            number = _completed("2" + _digits(source, 10), verhoeff)
            return f"Aadhaar {number[:4]} {number[4:8]} {number[8:]}"
        case 2:
            birth = f"{source.randrange(50, 99)}{source.randrange(1, 12):02d}{source.randrange(1, 28):02d}"
            number = _completed(f"{birth}{_digits(source, 3)}", luhn)
            return f"personnummer {number[:6]}-{number[6:]}"
        case 3:
            person = source.randrange(10_000_000, 99_999_999)
            return f"DNI {person}{'TRWAGMYFPDXBNJZSQVHLCKE'[person % 23]}"
        case 4:
            digits = "".join(source.sample("1234567890", 9)).lstrip("0").ljust(9, "7")
            return "Steuer-ID " + _completed((digits + digits[0])[:10], mod_11_10)
        case _:
            nine = _digits(source, 9)
            first = (
                sum(int(digit) * weight for digit, weight in zip(nine, range(10, 1, -1), strict=True)) * 10 % 11 % 10
            )
            ten = f"{nine}{first}"
            second = (
                sum(int(digit) * weight for digit, weight in zip(ten, range(11, 1, -1), strict=True)) * 10 % 11 % 10
            )
            return f"CPF {nine[:3]}.{nine[3:6]}.{nine[6:]}-{first}{second}"


def _account(source: random.Random) -> str:
    body = _digits(source, 18)
    check = 98 - int(body + "131400") % 97  # DE00
    number = f"DE{check:02d}{body}"
    return " ".join(number[start : start + 4] for start in range(0, 22, 4)) if source.random() < 0.5 else number


def _signed(source: random.Random) -> str:
    claims = {"sub": str(source.randrange(10**9)), "iss": "https://login.example.com", "exp": 1_790_000_000}
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in
             ({"alg": "HS256", "typ": "JWT"}, claims)]  # fmt: skip
    return ".".join((*parts, base64.urlsafe_b64encode(source.randbytes(32)).decode().rstrip("=")))


def _discord(source: random.Random) -> str:
    head = base64.b64encode(_digits(source, 18).replace("0", "3").encode()).decode()
    return f"{head}.{_letters(source, 6)}.{_letters(source, 38)}"


def _bitcoin(source: random.Random) -> str:
    return base58(b"\x80" + source.randbytes(32) + b"\x01")


def _letters(source: random.Random, count: int) -> str:
    return "".join(source.choice(_KINDS["w"]) for _ in range(count))


_MADE = {
    "payment-card": _card,
    "national-id": _national,
    "bank-account": _account,
    "signed-token": _signed,
    "discord-token": _discord,
    "bitcoin-key": _bitcoin,
}
