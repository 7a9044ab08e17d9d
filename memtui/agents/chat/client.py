"""The SDK's client: credentials, host. Keys stay in it; none is kept here.

`import anthropic` takes about two seconds of CPU. It happens when a client is made, in the conversation's own thread.
"""

import logging
import os
import sys
from typing import Any

from memtui.agents.chat.events import ChatOptions
from memtui.core.unicode import to_one_line

CONNECT_SECONDS = 10.0
"""For name, connection and TLS."""
READ_SECONDS = 180.0
"""Between two pieces of an answer: long enough for a model that thinks, and far below the SDK's 600 seconds."""
_WRITE_SECONDS = 60.0

_WHAT_TO_DO = "Set ANTHROPIC_API_KEY and run memtui chat again. Browsing works without it."

_CLIENTS = {
    "anthropic": "AsyncAnthropic",
    "bedrock": "AsyncAnthropicBedrock",
    "vertex": "AsyncAnthropicVertex",
    "foundry": "AsyncAnthropicFoundry",
}


class ClientUnavailable(Exception):
    """There can be no client. `sentence` says why, and the next step; `has_sdk` is false if the SDK is missing."""

    def __init__(self, sentence: str, *, has_sdk: bool = True) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.has_sdk = has_sdk


def make_client(options: ChatOptions) -> Any:
    """An asynchronous client of the SDK, with credentials from the SDK's own chain.

    Raises:
        ClientUnavailable: The SDK or a package of the provider is missing, or there are no credentials.
    """
    if options.provider == "anthropic" and _is_without_credentials():
        raise ClientUnavailable(f"No API key. {_WHAT_TO_DO}")
    try:
        import anthropic  # noqa: PLC0415 - start-up: loads the SDK
        import httpx2  # noqa: PLC0415 - start-up: loads the SDK
    except ImportError as error:
        sentence = f"The Anthropic SDK cannot be loaded ({error}). Install it with: pip install anthropic"
        raise ClientUnavailable(sentence, has_sdk=False) from error
    logging.getLogger("anthropic").addHandler(logging.NullHandler())  # else it may write over the screen
    timeout = httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS, write=_WRITE_SECONDS)
    try:
        # Retries are ours: the SDK's are silent.
        client = getattr(anthropic, _CLIENTS[options.provider])(timeout=timeout, max_retries=0)
    except ImportError as error:
        words = f"The packages for {options.provider} are not installed ({error})"
        sentence = f"{words}. Install them with: pip install 'anthropic[{options.provider}]'"
        raise ClientUnavailable(sentence, has_sdk=False) from error
    except anthropic.CredentialsError as error:
        raise ClientUnavailable(f"No API key: {_format_error(error)}. {_WHAT_TO_DO}") from error
    except (anthropic.AnthropicError, ValueError, RuntimeError, OSError) as error:
        raise ClientUnavailable(f"Could not connect to {options.provider}: {_format_error(error)}.") from error
    if options.provider == "anthropic" and not _has_credentials(client):
        raise ClientUnavailable(f"No API key. {_WHAT_TO_DO}")
    return client


def get_host(client: object) -> str:
    """The host of requests, such as `api.anthropic.com`, with the port where it is not the usual one."""
    url = getattr(client, "base_url", None)
    host = getattr(url, "host", "") or "the server"
    port = getattr(url, "port", None)
    return f"{host}:{port}" if port else str(host)


def describe_key_source(client: object) -> str:
    """The source of the key, for sentences; never the key."""
    if getattr(client, "api_key", None) and os.environ.get("ANTHROPIC_API_KEY"):
        return "ANTHROPIC_API_KEY"
    if getattr(client, "auth_token", None) and os.environ.get("ANTHROPIC_AUTH_TOKEN"):
        return "ANTHROPIC_AUTH_TOKEN"
    return "the credentials"


def find_profile_directory() -> str:
    """The directory in which the SDK keeps profiles, and renews what they sign in with."""
    return os.environ.get("ANTHROPIC_CONFIG_DIR") or os.path.expanduser("~/.config/anthropic")


def _is_without_credentials() -> bool:
    """Whether the SDK can find no credentials for sure: said at once, without the seconds that loading it takes.

    Its chain looks at variables that begin with `ANTHROPIC_` and at profiles in its directory of configuration.
    """
    given = {name for name, value in os.environ.items() if name.startswith("ANTHROPIC_") and value}
    has_profiles = sys.platform == "win32" or os.path.lexists(find_profile_directory())
    return given <= {"ANTHROPIC_BASE_URL"} and not has_profiles


def _has_credentials(client: Any) -> bool:
    if any(getattr(client, name, None) for name in ("api_key", "auth_token", "credentials")):
        return True
    headers = {str(name).lower() for name in getattr(client, "default_headers", {})}
    return bool(headers & {"authorization", "x-api-key"})


def _format_error(error: BaseException) -> str:
    return to_one_line(" ".join(str(error).split()))[:300].rstrip(".") or type(error).__name__
