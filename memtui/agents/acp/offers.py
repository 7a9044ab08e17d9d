"""What an agent offers besides an answer: its modes, models and slash commands, and the choice among them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from acp import schema
from acp.exceptions import RequestError
from pydantic import BaseModel, RootModel, ValidationError

from memtui.agents.acp.sessions import AgentSession
from memtui.agents.chat import events
from memtui.agents.chat.state import ChatState
from memtui.core.unicode import to_one_line

LONGEST_WORDS = 300
LONGEST_NAME = 64
_MOST_CHOICES = 200

_EFFORT = "thought_level"
"""The category of the setting for how much an agent thinks."""


Option = schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean


class AgentOffers:
    """The offers of the session that is open, told as events. An older agent has modes of their own, a newer one a
    setting of the category `mode`.

    Args:
        state: The conversation's.
        title: The agent's name.
        request: Sends a request by the name of its method, and waits a while for the result.
    """

    def __init__(self, state: ChatState, title: str, request: Callable[[str, BaseModel], Awaitable[Any]]) -> None:
        self._state = state
        self._title = title
        self._request = request
        self._session_id: str | None = None
        self._options: tuple[Option, ...] = ()
        self._told = events.OffersChanged()
        self._has_models = False
        """Whether the agent has models, but not as a setting."""

    def open(self, session: AgentSession) -> None:
        """Take the offers of another session; its slash commands come later, or came before."""
        self._session_id = session.id
        found, modes = self._told, session.modes
        known = modes.available_modes if modes is not None else ()
        self._tell(
            replace(
                found,
                modes=tuple(_make_choice(each.id, each.name, each.description) for each in known[:_MOST_CHOICES]),
                mode=to_one_line(modes.current_mode_id) if modes is not None else "",
            )
        )
        self._take_options(session.options)
        if session.models and self._find_option("model") is None:
            self._has_models = True
            models = [events.Model(to_one_line(id), to_one_line(name)) for id, name in session.models]
            self._tell_model(session.model, models)

    def take(self, update: object) -> bool:
        """Take an update of the session's, if it is about its offers."""
        match update:
            case schema.AvailableCommandsUpdate(available_commands=found):
                known = (_make_choice(each.name, each.description) for each in found[:_MOST_CHOICES])
                self._tell(replace(self._told, commands=tuple(known)))
            case schema.CurrentModeUpdate(current_mode_id=mode):
                self._tell(replace(self._told, mode=to_one_line(mode)))
            case schema.ConfigOptionUpdate(config_options=options):
                self._take_options(options)
            case _:
                return False
        return True

    async def set_mode(self, id: str) -> None:
        """Have the agent work in another of its modes, by its id or name."""
        known = next((each for each in self._told.modes if id in (each.id, each.words)), None)
        if known is None:
            names = ", ".join(each.id for each in self._told.modes)
            words = f"Its modes: {names}." if names else f"{self._title} offers no modes here."
            self._state.emit(events.Notice(f"The mode was not changed. {words}"))
        elif (option := self._find_option("mode")) is not None:
            await self._set_option(option, known.id, "mode")
        elif self._session_id is not None:
            request = schema.SetSessionModeRequest(session_id=self._session_id, mode_id=known.id)
            if await self._ask("session_set_mode", request, "mode") is not None:
                self._tell(replace(self._told, mode=known.id))

    async def set_model(self, id: str) -> None:
        """Have another of the agent's models answer, by its id or name."""
        option = self._find_option("model")
        if option is None and self._has_models and self._session_id is not None:
            known = self._state.connection.models
            named = next((each.id for each in known if id in (each.id, each.name)), id)
            # As the protocol had it before models were a setting.
            request = RootModel[dict[str, str]]({"sessionId": self._session_id, "modelId": named})
            if await self._ask("session/set_model", request, "model") is not None:
                self._tell_model(named, known)
        elif option is None:
            self._state.emit(events.Notice(f"{self._title} offers no models here: choose one in its own program."))
        else:
            named = next((each.id for each in self._state.connection.models if id in (each.id, each.name)), id)
            await self._set_option(option, named, "model")

    async def set_effort(self, level: str | None) -> None:
        """Have the agent think as much as one of the levels that it offers says."""
        option = self._find_option(_EFFORT)
        if option is None or level is None:
            words = "has no default for it" if option is not None else "offers no effort here"
            self._state.emit(events.Notice(f"The effort was not changed: {self._title} {words}."))
        else:
            await self._set_option(option, level, "effort")

    async def set_thinking(self, thinking: bool | None) -> None:
        """Have the agent show its thinking or not, where it offers that as a switch."""
        option = self._find_switch()
        if option is None or thinking is None:
            words = "has no default for it" if option is not None else "offers no such switch here"
            self._state.emit(events.Notice(f"Thinking was not changed: {self._title} {words}."))
        else:
            await self._set_option(option, thinking, "thinking")

    async def _set_option(self, option: Option, value: str | bool, what: str) -> None:
        if self._session_id is None:
            return
        words: dict[str, Any] = {"config_id": option.id, "session_id": self._session_id, "value": value}
        request: BaseModel = (
            schema.SetSessionConfigOptionBooleanRequest(**words, type="boolean")
            if isinstance(value, bool)
            else schema.SetSessionConfigOptionSelectRequest(**words)
        )
        answer = await self._ask("session_set_config_option", request, what)
        if answer is None:
            return
        try:
            options: Sequence[Option] = schema.SetSessionConfigOptionResponse.model_validate(answer).config_options
        except ValidationError:
            options = ()
        chosen = option.model_copy(update={"current_value": value})
        self._take_options(options or [chosen if each is option else each for each in self._options])

    async def _ask(self, method: str, request: BaseModel, what: str) -> Any:
        """Ask the agent for a change; `None`, and a sentence, where it makes none."""
        try:
            return await self._request(method, request) or {}
        except (RequestError, ConnectionError, TimeoutError) as error:
            words = describe_error(error) if isinstance(error, RequestError) else "it does not answer"
            self._state.emit(events.Notice(f"The {what} was not changed: {words}."))
            return None

    def _take_options(self, options: Sequence[Option]) -> None:
        self._options = tuple(options)
        if (mode := self._find_option("mode")) is not None:
            known = (_make_choice(each.value, each.name, each.description) for each in _list_values(mode))
            self._tell(replace(self._told, modes=tuple(known), mode=to_one_line(mode.current_value)))
        if (model := self._find_option("model")) is not None:
            models = [events.Model(to_one_line(each.value), to_one_line(each.name)) for each in _list_values(model)]
            self._tell_model(model.current_value, models)
        elif self._state.model is not None:
            self._tell_model(self._state.model.id, self._state.connection.models)

    def _tell_model(self, id: str, models: Sequence[events.Model]) -> None:
        """The models, and that in use, of which alone it is known how much it may think."""
        models, id = tuple(models)[:_MOST_CHOICES], to_one_line(id)
        if models and models != self._state.connection.models:
            self._state.connection.models = models
            self._state.emit(events.ModelsListed(models))
        before = self._state.model
        known = next((each for each in models if each.id == id), None)
        name = known.name if known is not None else before.name if before is not None and before.id == id else ""
        effort = self._find_option(_EFFORT)
        levels = tuple(to_one_line(each.value) for each in _list_values(effort)) if effort is not None else ()
        switch = ("enabled", "disabled") if self._find_switch() is not None else ()
        now = events.Model(id, name, efforts=levels, thinking=switch)
        if id and now != before:
            self._state.model = now
            self._state.emit(events.ModelChanged(now))

    def _find_option(self, category: str) -> schema.SessionConfigOptionSelect | None:
        for each in self._options:
            if isinstance(each, schema.SessionConfigOptionSelect) and each.category == category:
                return each
        return None

    def _find_switch(self) -> schema.SessionConfigOptionBoolean | None:
        for each in self._options:
            if isinstance(each, schema.SessionConfigOptionBoolean) and (
                each.category == _EFFORT or "think" in each.id.lower()
            ):
                return each
        return None

    def _tell(self, offers: events.OffersChanged) -> None:
        if offers != self._told:
            self._told = offers
            self._state.emit(offers)


def describe_error(error: RequestError) -> str:
    """The words of an agent's error, without the stop at their end."""
    data = error.data
    details = data.get("details") or data.get("message") if isinstance(data, dict) else data
    more = f" ({details})" if isinstance(details, str) and details and details not in str(error) else ""
    return to_one_line(f"{str(error).rstrip('.')}{more}")[:LONGEST_WORDS] or "no reason given"


def _list_values(option: schema.SessionConfigOptionSelect) -> list[schema.SessionConfigSelectOption]:
    found = list[schema.SessionConfigSelectOption]()
    for each in option.options:
        found += each.options if isinstance(each, schema.SessionConfigSelectGroup) else [each]
    return found[:_MOST_CHOICES]


def _make_choice(id: str, *words: str | None) -> events.AgentChoice:
    told = ": ".join(to_one_line(each) for each in words if each)
    return events.AgentChoice(to_one_line(id)[:LONGEST_NAME], told[:LONGEST_WORDS])
