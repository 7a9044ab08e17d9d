"""How keys and tokens look, by shapes that their issuers have published.

Only what is distinct is here: a prefix, a checksum, a letter that always stands in the same place. A key that is
thirty-two hexadecimal digits and nothing else is known by what is written before it, not by its looks.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memtui.notes.outline import has_long_word
from memtui.notes.secrets.checksums import decodes_to_digits, ends_in_its_checksum
from memtui.notes.secrets.pictures import is_picture
from memtui.notes.spots import Spot


@dataclass(frozen=True, slots=True)
class Shape:
    """How a secret looks.

    Attributes:
        rule: The rule's id.
        words: What it is, for a person.
        hints: Letters one of which is always in it, so that most notes are passed at once.
        pattern: The whole. A group `value` is what is secret in it, by default all of it.
        is_sound: What else must be true of the value, such as its checksum.
    """

    rule: str
    words: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    is_sound: Callable[[str], bool] | None = None


_FREE = r"(?<![A-Za-z0-9_])"
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
"""A key does not begin within a word."""


def _is_mixed(value: str) -> bool:
    """Whether there are digits and letters in it: what has none of either is a word or a number."""
    return any(character.isdigit() for character in value) and any(character.isalpha() for character in value)


def _shape(
    rule: str, words: str, hints: str | tuple[str, ...], pattern: str, is_sound: Callable[[str], bool] | None = None
) -> Shape:
    whole = _FREE + pattern if pattern[0] in "([" else pattern  # a literal at the beginning is found far faster
    return Shape(rule, words, (hints,) if isinstance(hints, str) else hints, re.compile(whole), is_sound)


_SHORTEST = 14
"""Characters that a key has at least, without a blank."""
_END = r"(?![A-Za-z0-9_-])"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

SHAPES = (
    # Models and what is around them
    _shape("anthropic-key", "a key of Anthropic", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    _shape("openai-key", "a key of OpenAI", "sk-", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}"),
    _shape("openai-key", "a key of OpenAI", "T3BlbkFJ", r"sk-[A-Za-z0-9_-]{16,200}?T3BlbkFJ[A-Za-z0-9_-]{16,}"),
    _shape("openrouter-key", "a key of OpenRouter", "sk-or-", r"sk-or-v1-[0-9a-f]{64}" + _END),
    _shape("model-key", "a key of a model's provider", "sk-", r"sk-[A-Za-z0-9]{32,64}" + _END, _is_mixed),
    _shape("groq-key", "a key of Groq", "gsk_", r"gsk_[A-Za-z0-9]{52}" + _END),
    _shape("xai-key", "a key of xAI", "xai-", r"xai-[A-Za-z0-9]{70,90}" + _END),
    _shape("perplexity-key", "a key of Perplexity", "pplx-", r"pplx-[A-Za-z0-9]{40,64}" + _END),
    _shape("replicate-token", "a token of Replicate", "r8_", r"r8_[A-Za-z0-9_-]{37}" + _END),
    _shape("huggingface-token", "a token of Hugging Face", "hf_", r"hf_[A-Za-z0-9]{34}" + _END),
    _shape("huggingface-token", "a token of Hugging Face", "api_org_", r"api_org_[A-Za-z0-9]{34}" + _END),
    _shape("nvidia-key", "a key of NVIDIA", "nvapi-", r"nvapi-[A-Za-z0-9_-]{60,70}" + _END),
    _shape("langsmith-key", "a key of LangSmith", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}" + _END),
    _shape("elevenlabs-key", "a key of ElevenLabs", "sk_", r"sk_[0-9a-f]{48}" + _END),
    _shape("pinecone-key", "a key of Pinecone", "pcsk_", r"pcsk_[A-Za-z0-9_]{50,80}" + _END),
    _shape("tavily-key", "a key of Tavily", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}" + _END),
    _shape("cerebras-key", "a key of Cerebras", "csk-", r"csk-[a-z0-9]{48}" + _END),
    _shape("bedrock-key", "a key of Bedrock", "ABSK", r"ABSK[A-Za-z0-9+/]{100,140}={0,2}"),
    # Where code lives
    _shape(
        "github-token", "a token of GitHub", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        r"gh[pousr]_[A-Za-z0-9]{36}" + _END, ends_in_its_checksum,
    ),
    _shape("github-token", "a token of GitHub", ("ghs_", "ghu_"), r"gh[su]_[0-9]{1,12}_eyJ[A-Za-z0-9_.-]{100,1200}"),
    _shape("github-token", "a token of GitHub", "github_pat_", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}" + _END),
    _shape(
        "gitlab-token", "a token of GitLab", "gl",
        r"(?:glpat|gldt|glrt|glrtr|glptt|glft|glsoat|glcbt|gloas|glimt|glagent|glffct|glwt)-[A-Za-z0-9_.-]{20,}",
    ),
    _shape("bitbucket-token", "a password of Bitbucket", "ATBB", r"ATBB[A-Za-z0-9]{32}" + _END, _is_mixed),
    _shape("atlassian-token", "a token of Atlassian", ("ATATT3", "ATCTT3"), r"AT[AC]TT3[A-Za-z0-9_=-]{80,260}"),
    _shape("azure-devops-token", "a token of Azure DevOps", "AZDO", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}" + _END),
    _shape("sourcegraph-token", "a token of Sourcegraph", "sgp_", r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}" + _END),
    _shape("buildkite-token", "a token of Buildkite", "bkua_", r"bkua_[0-9a-f]{40}" + _END),
    _shape("circleci-token", "a token of CircleCI", "CCIPAT_", r"CCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}" + _END),
    _shape("sonar-token", "a token of Sonar", ("squ_", "sqp_", "sqa_"), r"sq[upa]_[0-9a-f]{40}" + _END),
    _shape("launchdarkly-key", "a key of LaunchDarkly", ("sdk-", "api-"), rf"(?:sdk|api)-{_UUID}" + _END),
    # Packages
    _shape("npm-token", "a token of npm", "npm_", r"npm_[A-Za-z0-9]{36}" + _END, ends_in_its_checksum),
    _shape("pypi-token", "a token of PyPI", "pypi-", r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    _shape("crates-token", "a token of crates.io", "cio", r"cio[A-Za-z0-9]{32}" + _END, _is_mixed),
    _shape("rubygems-key", "a key of RubyGems", "rubygems_", r"rubygems_[0-9a-f]{48}" + _END),
    _shape("nuget-key", "a key of NuGet", "oy2", r"oy2[a-z0-9]{43}" + _END, _is_mixed),
    _shape("clojars-token", "a token of Clojars", "CLOJARS_", r"CLOJARS_[0-9a-f]{60}" + _END),
    _shape("docker-token", "a token of Docker Hub", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,36}" + _END),
    _shape("artifactory-token", "a key of Artifactory", "AKCp", r"AKCp[A-Za-z0-9]{65,75}" + _END),
    # Clouds
    _shape("aws-key", "a key of AWS", ("AKIA", "ASIA", "ABIA", "ACCA"), r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}" + _END),
    _shape("google-key", "a key of Google", "AIza", r"AIza[A-Za-z0-9_-]{35}" + _END),
    _shape("google-token", "a token of Google", "ya29.", r"ya29\.[A-Za-z0-9_-]{30,}"),
    _shape("google-token", "a refresh token of Google", "1//0", r"1//0[A-Za-z0-9_-]{40,110}" + _END),
    _shape("google-secret", "a client secret of Google", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}" + _END),
    _shape(
        "azure-key", "a key of Azure", ("AccountKey=", "SharedAccessKey="),
        r"(?:AccountKey|SharedAccessKey)=(?P<value>[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==)",
    ),
    _shape("azure-key", "a key of Azure", "JQQJ9", r"[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27}" + _END),
    _shape("azure-secret", "a client secret of Azure", "Q~", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}" + _END),
    _shape(
        "azure-signature", "a shared access signature of Azure", "sig=",
        r"sig=(?P<value>[A-Za-z0-9%+/]{42,60}(?:%3[dD]|=))(?![A-Za-z0-9%])",
    ),
    _shape("digitalocean-token", "a token of DigitalOcean", "_v1_", r"do[opr]_v1_[a-f0-9]{64}" + _END),
    _shape("heroku-key", "a key of Heroku", "HRKU-", rf"HRKU-(?:{_UUID}|AA[A-Za-z0-9_-]{{58}})" + _END),
    _shape(
        "cloudflare-token", "a token of Cloudflare", ("cfk_", "cfut_", "cfat_"),
        r"cf(?:k|ut|at)_[A-Za-z0-9_-]{44,60}" + _END,
    ),
    _shape("cloudflare-key", "a key of Cloudflare's certificates", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}" + _END),
    _shape(
        "vercel-token", "a token of Vercel", ("vcp_", "vci_", "vca_", "vcr_", "vck_"),
        r"vc[piark]_[A-Za-z0-9]{24,80}" + _END, _is_mixed,
    ),
    _shape("netlify-token", "a token of Netlify", "nf", r"nf[pcoub]_[A-Za-z0-9]{36,64}" + _END, _is_mixed),
    _shape("supabase-token", "a token of Supabase", "sbp_", r"sbp_(?:v[0-9]_|oauth_)?[0-9a-f]{40}" + _END),
    _shape("supabase-key", "a secret key of Supabase", "sb_secret_", r"sb_secret_[A-Za-z0-9_-]{22,40}" + _END),
    _shape(
        "fly-token", "a token of Fly", ("fm1", "fm2", "fo1_"),
        r"(?:fm1[ar]|fm2)_[A-Za-z0-9+/]{60,}={0,3}|fo1_[\w-]{43}" + _END,
    ),
    _shape("databricks-token", "a token of Databricks", "dapi", r"dapi[0-9a-f]{32}(?:-[0-9]{1,2})?" + _END),
    _shape(
        "planetscale-token", "a token of PlanetScale", "pscale_",
        r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}" + _END,
    ),
    _shape("alibaba-key", "a key of Alibaba Cloud", "LTAI", r"LTAI[A-Za-z0-9]{20}" + _END, _is_mixed),
    _shape("tencent-key", "a key of Tencent Cloud", "AKID", r"AKID[A-Za-z0-9]{32}" + _END, _is_mixed),
    # Keeping secrets, and building with them
    _shape(
        "vault-token", "a token of Vault", ("hvs.", "hvb.", "hvr."),
        r"hv[sbr]\.[A-Za-z0-9_-]{24,300}" + _END, _is_mixed,
    ),
    _shape("terraform-token", "a token of Terraform", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}"),
    _shape("pulumi-token", "a token of Pulumi", "pul-", r"pul-[0-9a-f]{40}" + _END),
    _shape(
        "doppler-token", "a token of Doppler", "dp.",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}" + _END,
    ),
    _shape("onepassword-token", "a token of 1Password", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/_-]{200,}={0,3}"),
    _shape(
        "onepassword-key", "a secret key of 1Password", "A3-",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}" + _END,
    ),
    _shape(
        "tailscale-key", "a key of Tailscale", "tskey-",
        r"tskey-(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{20,48}" + _END,
    ),
    _shape("ngrok-key", "a key of ngrok", "ak_", r"ak_[A-Za-z0-9]{27}" + _END, _is_mixed),
    # Messages
    _shape("slack-token", "a token of Slack", "xox", r"xox[abceoprs]-(?:[0-9]-)?[A-Za-z0-9-]{10,}"),
    _shape("slack-token", "a token of Slack", "xapp-", r"xapp-[0-9]-[A-Za-z0-9-]{20,}"),
    _shape("slack-hook", "a webhook of Slack", "hooks.slack.com", r"hooks\.slack\.com/services/T\w+/B\w+/\w{16,}"),
    _shape(
        "discord-token", "a token of a Discord bot", ".",
        r"(?P<value>[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})" + _END, decodes_to_digits,
    ),
    _shape(
        "discord-hook", "a webhook of Discord", "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/[\w-]{60,80}" + _END,
    ),
    _shape(
        "teams-hook", "a webhook of Teams", ".webhook.office.com",
        r"[a-z0-9-]{1,60}\.webhook\.office\.com/webhookb2/[\w@-]{70,80}/IncomingWebhook/[0-9a-f]{32}/[\w-]{36}",
    ),
    _shape("telegram-token", "a token of a Telegram bot", ":AA", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}(?![\w-])"),
    _shape("twilio-key", "a key of Twilio", "SK", r"SK[0-9a-f]{32}" + _END),
    _shape("sendgrid-key", "a key of SendGrid", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    _shape("mailgun-key", "a key of Mailgun", "key-", r"key-[0-9a-f]{32}" + _END),
    _shape("mailgun-key", "a key of Mailgun", "-", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}" + _END),
    _shape("mailchimp-key", "a key of Mailchimp", "-us", r"[0-9a-f]{32}-us[0-9]{1,2}" + _END),
    _shape("brevo-key", "a key of Brevo", "xkeysib-", r"x(?:keysib|smtpsib)-[0-9a-f]{64}-[A-Za-z0-9]{16}" + _END),
    # Money
    _shape("stripe-key", "a key of Stripe", ("k_live_", "k_test_"), r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _shape("stripe-hook", "a webhook secret of Stripe", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}"),
    _shape("shopify-token", "a token of Shopify", "shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}" + _END),
    _shape(
        "square-token", "a token of Square", ("EAAA", "sq0"),
        r"(?:EAAA[A-Za-z0-9_-]{60}|sq0(?:atp-[\w-]{22}|csp-[\w-]{43}))" + _END, _is_mixed,
    ),
    _shape(
        "braintree-token", "a token of Braintree", "access_token$",
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}" + _END,
    ),
    _shape("mollie-key", "a key of Mollie", "live_", r"live_[A-Za-z0-9]{30}" + _END, _is_mixed),
    _shape("plaid-token", "a token of Plaid", "access-", rf"access-(?:production|development)-{_UUID}" + _END),
    _shape("easypost-key", "a key of EasyPost", "EZ", r"EZ[AT]K[A-Za-z0-9]{54}" + _END),
    _shape("shippo-token", "a token of Shippo", "shippo_", r"shippo_(?:live|test)_[0-9a-f]{40}" + _END),
    # Watching
    _shape(
        "sentry-token", "a token of Sentry", ("sntrys_", "sntryu_"),
        r"(?:sntrys_eyJ[A-Za-z0-9+/=_-]{80,}|sntryu_[0-9a-f]{64})",
    ),
    _shape(
        "newrelic-key", "a key of New Relic", ("NRAK-", "NRII-", "NRIQ-"),
        r"NR(?:AK-[A-Z0-9]{27}|I[IQ]-[A-Za-z0-9_-]{32})" + _END,
    ),
    _shape("newrelic-key", "a licence key of New Relic", "NRAL", r"[0-9a-f]{36}NRAL" + _END),
    _shape("grafana-token", "a token of Grafana", "glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}" + _END),
    _shape("grafana-token", "a token of Grafana", "glc_eyJ", r"glc_eyJ[A-Za-z0-9+/]{50,}={0,2}"),
    _shape("dynatrace-token", "a token of Dynatrace", "dt0", r"dt0[cs][0-9]{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}" + _END),
    _shape("posthog-key", "a key of PostHog", "phx_", r"phx_[A-Za-z0-9]{43,50}" + _END, _is_mixed),
    # Work
    _shape(
        "linear-key", "a key of Linear", ("lin_api_", "lin_oauth_"),
        r"lin_(?:api_[A-Za-z0-9]{40}|oauth_[0-9a-f]{64})" + _END,
    ),
    _shape("notion-token", "a token of Notion", "ntn_", r"ntn_[0-9]{11}[A-Za-z0-9]{35}" + _END),
    _shape("notion-token", "a token of Notion", "secret_", r"secret_[A-Za-z0-9]{43}" + _END, _is_mixed),
    _shape("airtable-token", "a token of Airtable", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}" + _END),
    _shape("figma-token", "a token of Figma", "figd_", r"figd_[A-Za-z0-9_-]{40}" + _END),
    _shape("postman-key", "a key of Postman", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}" + _END),
    _shape("hubspot-token", "a token of HubSpot", "pat-", rf"pat-(?:na|eu)[0-9]-{_UUID}" + _END),
    _shape("contentful-token", "a token of Contentful", "CFPAT-", r"CFPAT-[A-Za-z0-9_-]{43}" + _END),
    _shape("typeform-token", "a token of Typeform", "tfp_", r"tfp_[A-Za-z0-9_.=-]{40,64}" + _END, _is_mixed),
    _shape("asana-token", "a token of Asana", "/", r"[0-2]/[0-9]{15,18}(?:/[0-9]{15,18})?:[0-9a-f]{32}" + _END),
    # Keys that have a head of their own
    _shape("age-key", "a secret key of age", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
)  # fmt: skip


_MARKS = ("_", "$", "~", "=", ":", "/", "-", ".", "")


def _mark_of(hint: str) -> str:
    return next(mark for mark in _MARKS if mark in hint)


_BY_MARK = tuple(
    (mark, [(hint, number) for number, shape in enumerate(SHAPES) for hint in shape.hints if _mark_of(hint) == mark])
    for mark in _MARKS
)
"""The hints of all shapes by a mark that is in them, so that most are passed at once."""


def long_words(text: str) -> str:
    """The words of a text that are long enough to be a key, parted by blanks: of most notes next to nothing."""
    if not has_long_word(text, _SHORTEST):
        return ""
    return " ".join([word for word in text.split() if len(word) >= _SHORTEST])


def shaped(text: str, words: str) -> Iterator[Spot]:
    """What in a text has the shape of a key.

    Args:
        text: The text.
        words: Its long words; a note that has none is passed at once.
    """
    if not words:
        return
    known = {number for mark, hints in _BY_MARK if mark in words for hint, number in hints if hint in words}
    for number in sorted(known):
        shape = SHAPES[number]
        if shape.pattern.search(words) is None:
            continue
        for found in shape.pattern.finditer(text):
            if found.start() and text[found.start() - 1] in _WORD:
                continue
            group = "value" if "value" in shape.pattern.groupindex else 0
            value = found.group(group)
            if not is_picture(value) and (shape.is_sound is None or shape.is_sound(value)):
                yield Spot("secret", shape.rule, found.start(), found.end(), shape.words, found.span(group))
