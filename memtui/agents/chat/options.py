"""How a conversation is held, as one value."""

from dataclasses import dataclass

from memtui.config.sections import EFFORTS as EFFORTS  # noqa: PLC0414 - others ask for it here
from memtui.config.sections import PROVIDERS as PROVIDERS  # noqa: PLC0414 - others ask for it here
from memtui.config.sections import Provider as Provider  # noqa: PLC0414 - others ask for it here
from memtui.core.asking import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """What the person chose before the conversation began; models, policy, effort and thinking may change later."""

    model: str | None = None
    """Which model; `None` takes the newest that the API lists."""
    provider: Provider = "anthropic"
    """Whose client of the SDK is used."""
    policy: Policy = Policy.ASK
    """What becomes of writes to the memory."""
    system: str = ""
    """A system prompt of the person's, before ours."""
    guidance: str = ""
    """What is to be remembered, and what not, in the person's words."""
    max_tokens: int | None = None
    """Tokens that one answer may have; `None` for what fits the model."""
    context_trigger: int | None = None
    """Tokens of context from which old tool results are cleared; 0 is off, `None` a share of what the model takes."""
    effort: str | None = None
    """One of `EFFORTS`; `None` leaves it to the model."""
    thinking: bool | None = None
    """Whether the model may think; `None` leaves it to the model."""
    input_price: float | None = None
    """For a million tokens, in US dollars, where the person says so; no price is ever assumed."""
    output_price: float | None = None
    """The same for what the model writes."""
    max_calls: int = 200
    """Tool calls in one turn, after which it is ended and the person asked."""
