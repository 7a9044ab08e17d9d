"""How keys and tokens look, by shapes that their issuers have published.

Only what is distinct is here: a prefix, a checksum, a letter that always stands in the same place. A key that is
thirty-two hexadecimal digits and nothing else is known by what is written before it, not by its looks.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from memtui.notes.secrets.checksums import base58_checked, decodes_to_digits, ends_in_its_checksum


@dataclass(frozen=True, slots=True)
class Shape:
    """How a secret looks.

    Attributes:
        rule: The rule's id.
        words: What it is, for a person.
        heads: How it begins: one of these. Two letters or digits at least.
        pattern: The whole. A group `value` is what is secret in it, by default all of it.
        is_sound: What else must be true of the value, such as its checksum.
        within: Where it has no head: characters one of which is always in it.
        sizes: Where it has neither: how many letters and digits stand in a row in it, as one of these.
    """

    rule: str
    words: str
    heads: tuple[str, ...]
    pattern: re.Pattern[str]
    is_sound: Callable[[str], bool] | None = None
    within: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()


_FREE = r"(?<![A-Za-z0-9_])"


def _is_mixed(value: str) -> bool:
    """Whether there are digits and letters in it: what has none of either is a word or a number."""
    return any(character.isdigit() for character in value) and any(character.isalpha() for character in value)


def _shape(
    rule: str,
    words: str,
    heads: str | tuple[str, ...],
    pattern: str,
    is_sound: Callable[[str], bool] | None = None,
    *,
    within: tuple[str, ...] = (),
    sizes: tuple[int, ...] = (),
) -> Shape:
    whole = _FREE + pattern if pattern[0] in "([" else pattern  # a literal at the beginning is found far faster
    every = (heads,) if isinstance(heads, str) else heads
    return Shape(rule, words, every, re.compile(whole), is_sound, within, sizes)


_END = r"(?![A-Za-z0-9_-])"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

SHAPES = (
    # Models and what is around them
    _shape("anthropic-key", "a key of Anthropic", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,}", _is_mixed),
    _shape("openai-key", "a key of OpenAI", "sk-", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}", _is_mixed),
    _shape("openai-key", "a key of OpenAI", "sk-", r"sk-[A-Za-z0-9_-]{16,200}?T3BlbkFJ[A-Za-z0-9_-]{16,}"),
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
    _shape("bedrock-key", "a key of Bedrock", "bedrock-api-key-", r"bedrock-api-key-[A-Za-z0-9+/]{100,4000}={0,2}"),
    _shape("google-key", "a key of Google", "AQ.Ab", r"AQ\.Ab[A-Za-z0-9_-]{40,80}" + _END),
    _shape("together-key", "a key of Together", "tgp_v1_", r"tgp_v1_[A-Za-z0-9_-]{43}" + _END),
    _shape("fireworks-key", "a key of Fireworks", "fw_", r"fw_[A-Za-z0-9]{22,40}" + _END, _is_mixed),
    _shape("voyage-key", "a key of Voyage", "pa-", r"pa-[A-Za-z0-9_-]{43}" + _END, _is_mixed),
    _shape("jina-key", "a key of Jina", "jina_", r"jina_[0-9a-f]{32}[A-Za-z0-9_-]{28}" + _END),
    _shape("firecrawl-key", "a key of Firecrawl", "fc-", r"fc-[0-9a-f]{32}" + _END),
    _shape("etwob-key", "a key of E2B", "e2b_", r"e2b_[0-9a-f]{40}" + _END),
    _shape("browserbase-key", "a key of Browserbase", "bb_live_", r"bb_live_[A-Za-z0-9_-]{27}" + _END),
    _shape("apify-token", "a token of Apify", "apify_api_", r"apify_api_[A-Za-z0-9]{36}" + _END),
    _shape("langfuse-key", "a secret key of Langfuse", "sk-lf-", rf"sk-lf-{_UUID}" + _END),
    _shape("helicone-key", "a key of Helicone", "sk-helicone-", r"sk-helicone(?:-[a-z0-9]{7}){4}" + _END),
    _shape("wandb-key", "a key of Weights & Biases", "wandb_v1_", r"wandb_v1_[A-Za-z0-9_]{60,100}" + _END),
    _shape("runpod-key", "a key of RunPod", "rpa_", r"rpa_[A-Z0-9]{40}[A-Za-z0-9]{0,8}" + _END, _is_mixed),
    _shape("modal-token", "a token of Modal", ("ak-", "as-"), r"a[ks]-[A-Za-z0-9]{22}" + _END, _is_mixed),
    _shape("llamacloud-key", "a key of LlamaCloud", "llx-", r"llx-[A-Za-z0-9]{48}" + _END),
    _shape("memzero-key", "a key of Mem0", "m0-", r"m0-[A-Za-z0-9]{40}" + _END, _is_mixed),
    _shape("cursor-key", "a key of Cursor", "crsr_", r"crsr_[0-9a-f]{64}" + _END),
    _shape("nodemation-key", "a key of n8n", "n8n_api_eyJ", r"n8n_api_eyJ[A-Za-z0-9_.-]{100,2000}"),
    # Where code lives
    _shape(
        "github-token", "a token of GitHub", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        r"gh[pousr]_[A-Za-z0-9]{36}" + _END, ends_in_its_checksum,
    ),
    _shape("github-token", "a token of GitHub", ("ghs_", "ghu_"), r"gh[su]_[0-9]{1,12}_eyJ[A-Za-z0-9_.-]{100,1200}"),
    _shape("github-token", "a token of GitHub", "github_pat_", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}" + _END),
    _shape(
        "gitlab-token", "a token of GitLab",
        ("glpat-", "gldt-", "glrt-", "glrtr-", "glptt-", "glft-", "glsoat-", "glcbt-", "gloas-", "glimt-", "glagent-",
         "glffct-", "glwt-"),
        r"gl(?:pat|dt|rt|rtr|ptt|ft|soat|cbt|oas|imt|agent|ffct|wt)-[A-Za-z0-9_.-]{20,}",
    ),
    _shape("bitbucket-token", "a password of Bitbucket", "ATBB", r"ATBB[A-Za-z0-9]{32}" + _END, _is_mixed),
    _shape("atlassian-token", "a token of Atlassian", ("ATATT3", "ATCTT3"), r"AT[AC]TT3[A-Za-z0-9_=-]{80,260}"),
    _shape("azure-devops-token", "a token of Azure DevOps", (), r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}" + _END,
           sizes=(84,)),
    _shape("sourcegraph-token", "a token of Sourcegraph", "sgp_", r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}" + _END),
    _shape("buildkite-token", "a token of Buildkite", "bkua_", r"bkua_[0-9a-f]{40}" + _END),
    _shape("circleci-token", "a token of CircleCI", "CCIPAT_", r"CCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}" + _END),
    _shape("sonar-token", "a token of Sonar", ("squ_", "sqp_", "sqa_"), r"sq[upa]_[0-9a-f]{40}" + _END),
    _shape("launchdarkly-key", "a key of LaunchDarkly", ("sdk-", "api-"), rf"(?:sdk|api)-{_UUID}" + _END),
    _shape("circleci-token", "a token of CircleCI", "CCIPRJ_", r"CCIPRJ_[A-Za-z0-9]{22}_[0-9a-f]{40}" + _END),
    _shape(
        "harness-token", "a token of Harness", ("pat.", "sat."),
        r"[ps]at\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}" + _END,
    ),
    _shape("octopus-key", "a key of Octopus Deploy", "API-", r"API-[A-Z0-9]{26}" + _END, _is_mixed),
    _shape("depot-token", "a token of Depot", "depot_", r"depot_(?:org|project|user)_[0-9a-f]{64}" + _END),
    _shape("infracost-key", "a key of Infracost", "ico-", r"ico-[A-Za-z0-9]{32}" + _END, _is_mixed),
    _shape("prefect-key", "a key of Prefect", ("pnu_", "pnb_"), r"pn[ub]_[A-Za-z0-9]{36}" + _END, _is_mixed),
    # Packages
    _shape("npm-token", "a token of npm", "npm_", r"npm_[A-Za-z0-9]{36}" + _END, ends_in_its_checksum),
    _shape("pypi-token", "a token of PyPI", "pypi-", r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    _shape("crates-token", "a token of crates.io", "cio", r"cio[A-Za-z0-9]{32}" + _END, _is_mixed),
    _shape("rubygems-key", "a key of RubyGems", "rubygems_", r"rubygems_[0-9a-f]{48}" + _END),
    _shape("nuget-key", "a key of NuGet", "oy2", r"oy2[a-z0-9]{43}" + _END, _is_mixed),
    _shape("clojars-token", "a token of Clojars", "CLOJARS_", r"CLOJARS_[0-9a-f]{60}" + _END),
    _shape("docker-token", "a token of Docker Hub", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,36}" + _END),
    _shape("artifactory-token", "a key of Artifactory", "AKCp", r"AKCp[A-Za-z0-9]{65,75}" + _END),
    _shape("artifactory-token", "a token of Artifactory", "cmVmdGtu", r"cmVmdGtu[A-Za-z0-9]{56}" + _END),
    # Clouds
    _shape("aws-key", "a key of AWS", ("AKIA", "ASIA", "ABIA", "ACCA"), r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}" + _END),
    _shape("google-key", "a key of Google", "AIza", r"AIza[A-Za-z0-9_-]{35}" + _END),
    _shape("google-token", "a token of Google", "ya29.", r"ya29\.[A-Za-z0-9_-]{30,}"),
    _shape("google-token", "a refresh token of Google", (), r"1//0[A-Za-z0-9_-]{40,110}" + _END, within=("1//0",)),
    _shape("google-secret", "a client secret of Google", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}" + _END),
    _shape(
        "azure-key", "a key of Azure", ("AccountKey=", "SharedAccessKey="),
        r"(?:AccountKey|SharedAccessKey)=(?P<value>[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==)",
    ),
    _shape("azure-key", "a key of Azure", (), r"[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27}" + _END, sizes=(84,)),
    _shape("azure-secret", "a client secret of Azure", (), r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}" + _END,
           within=("Q~",)),
    _shape(
        "azure-signature", "a shared access signature of Azure", "sig=",
        r"sig=(?P<value>[A-Za-z0-9%+/]{42,60}(?:%3[dD]|=))(?![A-Za-z0-9%])",
    ),
    _shape(
        "digitalocean-token", "a token of DigitalOcean", ("dop_", "doo_", "dor_"),
        r"do[opr]_v1_[a-f0-9]{64}" + _END,
    ),
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
    _shape(
        "netlify-token", "a token of Netlify", ("nfp_", "nfc_", "nfo_", "nfu_", "nfb_"),
        r"nf[pcoub]_[A-Za-z0-9]{36,64}" + _END, _is_mixed,
    ),
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
    _shape("yandex-key", "a key of Yandex Cloud", "AQVN", r"AQVN[A-Za-z0-9_-]{35,38}" + _END, _is_mixed),
    _shape("yandex-key", "a token of Yandex", "y0_", r"y0_[A-Za-z0-9_-]{50,60}" + _END, _is_mixed),
    _shape("upcloud-token", "a token of UpCloud", "ucat_", r"ucat_[A-Z0-9]{26}" + _END),
    _shape("render-key", "a key of Render", "rnd_", r"rnd_[A-Za-z0-9]{28,32}" + _END, _is_mixed),
    _shape(
        "azure-key", "a key of Azure", (),
        r"(?:[A-Za-z0-9+/]{76}(?:APIM|ACDb|\+(?:ABa|AMC|ASt))[A-Za-z0-9+/]{5}[AQgw]==|[A-Za-z0-9]{42}AzSe[A-Za-z0-9]{6}"
        r"|[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}[AQgw]==|[A-Za-z0-9]{33}AzCa[A-P][A-Za-z0-9]{5}=)(?![A-Za-z0-9+/=_-])",
        within=("APIM", "ACDb", "+ABa", "+AMC", "+ASt", "AzSe", "AzFu", "AzCa"),
    ),
    _shape("appsync-key", "a key of AppSync", "da2-", r"da2-[a-z0-9]{26}" + _END, _is_mixed),
    _shape("amazon-secret", "a client secret of Amazon", "amzn1.oa2-cs.v1.", r"amzn1\.oa2-cs\.v1\.[0-9a-f]{64}" + _END),
    _shape("amazon-secret", "a token of Amazon's marketplace", "amzn.mws.", rf"amzn\.mws\.{_UUID}" + _END),
    # Data
    _shape("neon-key", "a key of Neon", "napi_", r"napi_[a-z0-9]{64}" + _END),
    _shape("aiven-password", "a password of Aiven", "AVNS_", r"AVNS_[A-Za-z0-9_-]{19}" + _END, _is_mixed),
    _shape("mongodb-secret", "a secret of MongoDB Atlas", "mdb_sa_sk_", r"mdb_sa_sk_[A-Za-z0-9_-]{40}" + _END),
    _shape("confluent-key", "a secret of Confluent", "cflt", r"cflt[A-Za-z0-9+/]{60}(?![A-Za-z0-9+/=])", _is_mixed),
    _shape(
        "cockroach-key", "a key of CockroachDB", "CCDB1_", r"CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}" + _END
    ),
    _shape("clickhouse-key", "a key of ClickHouse", "4b1d", r"4b1d[A-Za-z0-9]{38}" + _END, _is_mixed),
    _shape("astra-token", "a token of Astra", "AstraCS:", r"AstraCS:[A-Za-z]{24}:[0-9a-f]{64}" + _END),
    _shape("openshift-token", "a token of OpenShift", "sha256~", r"sha256~[A-Za-z0-9_-]{43}" + _END),
    _shape("rancher-token", "a token of Rancher", "token-", r"token-[a-z0-9]{5}:[a-z0-9]{54}" + _END),
    _shape("scalingo-token", "a token of Scalingo", "tk-us-", r"tk-us-[A-Za-z0-9_-]{48}" + _END),
    # Keeping secrets, and building with them
    _shape(
        "vault-token", "a token of Vault", ("hvs.", "hvb.", "hvr."),
        r"hv[sbr]\.[A-Za-z0-9_-]{24,300}" + _END, _is_mixed,
    ),
    _shape("terraform-token", "a token of Terraform", (), r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}",
           within=(".atlasv1.",)),
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
    _shape(
        "bitwarden-token", "a token of Bitwarden", (),
        rf"(?<![\w.])0\.{_UUID}\.[A-Za-z0-9]{{30}}:[A-Za-z0-9+/]{{22}}==", sizes=(30,),
    ),
    _shape("jumpcloud-key", "a key of JumpCloud", "jca_", r"jca_[A-Za-z0-9]{36}" + _END),
    # Messages
    _shape("slack-token", "a token of Slack", "xox", r"xox[abceoprs]-(?:[0-9]-)?[A-Za-z0-9-]{10,}"),
    _shape("slack-token", "a token of Slack", "xapp-", r"xapp-[0-9]-[A-Za-z0-9-]{20,}"),
    _shape("slack-hook", "a webhook of Slack", "hooks.slack.com", r"hooks\.slack\.com/services/T\w+/B\w+/\w{16,}"),
    _shape(
        "discord-token", "a token of a Discord bot", tuple(first + second for first in "MNO" for second in "DTjz"),
        r"(?P<value>[MNO][DTjz][A-Za-z0-9_-]{21,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})" + _END,
        decodes_to_digits,
    ),
    _shape(
        "discord-hook", "a webhook of Discord", ("discord.com/api/", "discordapp.com/api/"),
        r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/[\w-]{60,80}" + _END,
    ),
    _shape(
        "teams-hook", "a webhook of Teams", (),
        r"[a-z0-9-]{1,60}\.webhook\.office\.com/webhookb2/[\w@-]{70,80}/IncomingWebhook/[0-9a-f]{32}/[\w-]{36}",
        within=(".webhook.office.com",),
    ),
    _shape("telegram-token", "a token of a Telegram bot", (), r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}(?![\w-])",
           within=(":AA",)),
    _shape("twilio-key", "a key of Twilio", "SK", r"SK[0-9a-f]{32}" + _END),
    _shape("sendgrid-key", "a key of SendGrid", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    _shape("mailgun-key", "a key of Mailgun", "key-", r"key-[0-9a-f]{32}" + _END),
    _shape("mailgun-key", "a key of Mailgun", (), r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}" + _END, sizes=(32,)),
    _shape("mailchimp-key", "a key of Mailchimp", (), r"[0-9a-f]{32}-us[0-9]{1,2}" + _END, sizes=(32,)),
    _shape(
        "brevo-key", "a key of Brevo", ("xkeysib-", "xsmtpsib-"),
        r"x(?:keysib|smtpsib)-[0-9a-f]{64}-[A-Za-z0-9]{16}" + _END,
    ),
    _shape("resend-key", "a key of Resend", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}" + _END, _is_mixed),
    _shape("mailersend-token", "a token of MailerSend", "mlsn.", r"mlsn\.[0-9a-f]{64}" + _END),
    _shape("onesignal-key", "a key of OneSignal", "os_v2_", r"os_v2_(?:app|org)_[a-z2-7]{100,110}" + _END),
    _shape("klaviyo-key", "a key of Klaviyo", "pk_", r"pk_[0-9a-f]{34}" + _END),
    _shape("facebook-token", "a token of Facebook", "EAA", r"EAA[A-Za-z0-9]{100,400}" + _END, _is_mixed),
    _shape(
        "twitter-token", "a token of X", "AAAAAAAAAAAAAAAAAAAA",
        r"A{20,24}[A-Za-z0-9]{4,40}%[A-Za-z0-9%]{40,100}(?![A-Za-z0-9%])",
    ),
    _shape(
        "linkedin-secret", "a client secret of LinkedIn", "WPL_AP1.",
        r"WPL_AP1\.[A-Za-z0-9]{16}\.[A-Za-z0-9+/]{6}==",
    ),
    _shape(
        "zapier-hook", "a webhook of Zapier", "hooks.zapier.com",
        r"hooks\.zapier\.com/hooks/catch/[0-9]{5,10}/[a-z0-9]{6,12}",
        _is_mixed,
    ),
    # Money
    _shape(
        "stripe-key", "a key of Stripe", ("sk_live_", "sk_test_", "rk_live_", "rk_test_"),
        r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    ),
    _shape("stripe-hook", "a webhook secret of Stripe", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}"),
    _shape(
        "shopify-token", "a token of Shopify", ("shpat_", "shpca_", "shppa_", "shpss_"),
        r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}" + _END,
    ),
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
    _shape("easypost-key", "a key of EasyPost", ("EZAK", "EZTK"), r"EZ[AT]K[A-Za-z0-9]{54}" + _END),
    _shape("shippo-token", "a token of Shippo", "shippo_", r"shippo_(?:live|test)_[0-9a-f]{40}" + _END),
    _shape(
        "paddle-key", "a key of Paddle", "pdl_",
        r"pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}" + _END,
    ),
    _shape(
        "flutterwave-key", "a key of Flutterwave", "FLWSECK",
        r"FLWSECK(?:_TEST)?-[0-9a-zA-Z]{32}-(?:[0-9a-z]{5,20}-)?X" + _END,
    ),
    _shape("duffel-token", "a token of Duffel", "duffel_", r"duffel_(?:test|live)_[A-Za-z0-9_-]{43}" + _END),
    _shape(
        "mercadopago-token", "a token of Mercado Pago", "APP_USR-",
        r"APP_USR-[0-9]{12,18}-[0-9]{6}-[0-9a-f]{32}-[0-9]{6,12}" + _END,
    ),
    _shape("polar-token", "a token of Polar", ("polar_oat_", "polar_pat_"), r"polar_[op]at_[A-Za-z0-9_]{30,60}" + _END),
    # Watching
    _shape(
        "sentry-token", "a token of Sentry", ("sntrys_", "sntryu_"),
        r"(?:sntrys_eyJ[A-Za-z0-9+/=_-]{80,}|sntryu_[0-9a-f]{64})",
    ),
    _shape(
        "newrelic-key", "a key of New Relic", ("NRAK-", "NRII-", "NRIQ-"),
        r"NR(?:AK-[A-Z0-9]{27}|I[IQ]-[A-Za-z0-9_-]{32})" + _END,
    ),
    _shape("newrelic-key", "a licence key of New Relic", (), r"[0-9a-f]{36}NRAL" + _END, sizes=(40,)),
    _shape("grafana-token", "a token of Grafana", "glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}" + _END),
    _shape("grafana-token", "a token of Grafana", "glc_eyJ", r"glc_eyJ[A-Za-z0-9+/]{50,}={0,2}"),
    _shape(
        "dynatrace-token", "a token of Dynatrace", ("dt0c", "dt0s"),
        r"dt0[cs][0-9]{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}" + _END,
    ),
    _shape("posthog-key", "a key of PostHog", "phx_", r"phx_[A-Za-z0-9]{43,50}" + _END, _is_mixed),
    _shape(
        "honeycomb-key", "a key of Honeycomb", ("hcaik_", "hcbik_", "hccik_", "hcxik_"),
        r"hc[abcx]ik_[0-9a-z]{58}" + _END,
    ),
    _shape("axiom-token", "a token of Axiom", ("xaat-", "xapt-"), rf"xa[ap]t-{_UUID}" + _END),
    _shape("checkly-key", "a key of Checkly", "cu_", r"cu_[0-9a-f]{32}" + _END),
    _shape("statsig-key", "a server secret of Statsig", "secret-", r"secret-[A-Za-z0-9]{43}" + _END, _is_mixed),
    _shape("segment-token", "a token of Segment", "sgp_", r"sgp_[A-Za-z0-9]{64}" + _END, _is_mixed),
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
    _shape("asana-token", "a token of Asana", (), r"[0-2]/[0-9]{15,18}(?:/[0-9]{15,18})?:[0-9a-f]{32}" + _END,
           sizes=(15, 16, 17, 18)),
    _shape("clickup-token", "a token of ClickUp", "pk_", r"pk_[0-9]{6,10}_[A-Z0-9]{32}" + _END),
    _shape("trello-token", "a token of Trello", "ATTA", r"ATTA[0-9a-f]{72}" + _END),
    _shape(
        "salesforce-token", "a token of Salesforce", "00D",
        r"00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{80,120}", _is_mixed,
    ),
    _shape("dropbox-token", "a token of Dropbox", "sl.", r"sl\.(?:u\.)?[A-Za-z0-9_-]{120,1400}" + _END),
    _shape("readme-key", "a key of ReadMe", "rdme_", r"rdme_[a-z0-9]{70}" + _END),
    _shape("adafruit-key", "a key of Adafruit", "aio_", r"aio_[A-Za-z0-9]{28}" + _END, _is_mixed),
    _shape(
        "mapbox-token", "a secret token of Mapbox", "sk.eyJ1",
        r"sk\.eyJ1[A-Za-z0-9_-]{40,160}\.[A-Za-z0-9_-]{22}" + _END,
    ),
    # Keys that have a head of their own
    _shape("age-key", "a secret key of age", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{58,80}"),
    _shape("minisign-key", "a secret key of minisign", "RWRTY0Iy", r"RWRTY0Iy[A-Za-z0-9+/]{180,240}={0,2}"),
    _shape(
        "bitcoin-key", "a private key of Bitcoin",
        ("5H", "5J", "5K", "Kw", "Kx", "Ky", "Kz", "L1", "L2", "L3", "L4", "L5"),
        r"[5KL][1-9A-HJ-NP-Za-km-z]{50,51}" + _END, base58_checked,
    ),
    _shape(
        "bitcoin-key", "an extended private key of Bitcoin", ("xprv", "yprv", "zprv", "tprv"),
        r"[xyzt]prv[1-9A-HJ-NP-Za-km-z]{107}" + _END, base58_checked,
    ),
)  # fmt: skip
