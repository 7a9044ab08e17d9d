"""Controllers: parts of a screen that it holds and does not inherit.

A controller has bindings, message handlers, workers and state of its own. Textual looks for these on nodes only, so
`ControlledScreen` lends a controller its bindings and messages when the class is made, and its actions when a key
runs one.
"""

from collections.abc import Callable, Coroutine, Sequence
from functools import partial, wraps
from inspect import unwrap
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from textual.app import App
from textual.binding import BindingType
from textual.css.query import NoMatches
from textual.events import MouseDown
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker

from memtui.ui.textual_private import get_handler_selectors, get_handlers

if TYPE_CHECKING:
    from memtui.flows.dialog import Choice

ScreenT = TypeVar("ScreenT", bound=Screen[Any])
ControllerT = TypeVar("ControllerT", bound="Controller[Any]")
ResultT = TypeVar("ResultT")
WorkT = TypeVar("WorkT")
P = ParamSpec("P")


class Controller(Generic[ScreenT]):
    """A part of a screen, with bindings, handlers (`@on`), actions (`action_…`) and state of its own."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, screen: ScreenT) -> None:
        self.screen = screen

    @property
    def app(self) -> App[Any]:
        """The application that shows the screen."""
        return self.screen.app

    async def choose(self, title: str, choices: "Sequence[Choice]", *, current: str | None = None) -> str | None:
        """Have the person choose, from a worker; `None` if nothing is chosen. `current` is the value that holds now."""
        from memtui.ui.screens.dialogs import MenuScreen  # noqa: PLC0415 - start-up: only for a question

        return await self.app.push_screen_wait(MenuScreen(title, choices, current=current))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action of this controller can run; `None` shows it as disabled."""
        del action, parameters
        return True

    def wants_mouse(self, event: MouseDown) -> bool:
        """Whether all that the mouse does from here on, until its button is let go, is this controller's."""
        del event
        return False


class _WorkDecorator(Protocol):
    @overload
    def __call__(
        self, method: Callable[Concatenate[ControllerT, P], Coroutine[Any, Any, WorkT]], /
    ) -> Callable[Concatenate[ControllerT, P], Worker[WorkT]]: ...

    @overload
    def __call__(
        self, method: Callable[Concatenate[ControllerT, P], WorkT], /
    ) -> Callable[Concatenate[ControllerT, P], Worker[WorkT]]: ...


def controller_work(
    *, group: str = "default", exclusive: bool = False, thread: bool = False, exit_on_error: bool = True
) -> _WorkDecorator:
    """Textual's `@work` for the methods of a controller: the worker belongs to its screen."""

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def start(self: Controller[Any], *args: Any, **kwargs: Any) -> Worker[Any]:
            return self.screen.run_worker(  # type: ignore[no-any-return]
                partial(method, self, *args, **kwargs), name=method.__name__, group=group, exclusive=exclusive,
                thread=thread, exit_on_error=exit_on_error,
            )  # fmt: skip

        return start

    return decorate


class ControlledScreen(Screen[ResultT]):
    """A screen that holds controllers.

    A subclass names the classes in `CONTROLLERS`, and gives one instance of each to `attach` when it is made. Bindings
    of controllers come first, in that order, then the screen's own. Messages go to the screen's own handlers first,
    then to controllers from the last one to the first. A screen's own action wins over a controller's.
    """

    CONTROLLERS: ClassVar[tuple[type[Controller[Any]], ...]] = ()
    OWN_BINDINGS: ClassVar[list[BindingType]] = []
    """The bindings of the class without those of its controllers; `BINDINGS` holds both."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Lend the class the bindings and the handlers of its controllers."""
        declared = cls.__dict__.get("CONTROLLERS", ())
        cls.OWN_BINDINGS = cls.__dict__.get("BINDINGS", [])
        bindings = [binding for controller in declared for binding in _collect_bindings(controller)]
        if bindings:
            cls.BINDINGS = [*bindings, *cls.OWN_BINDINGS]
        super().__init_subclass__(**options)
        handlers = get_handlers(cls)
        for controller in reversed(declared):
            for name, method in _collect_handlers(controller).items():
                forward = _make_forwarder(controller, name, takes_message=unwrap(method).__code__.co_argcount > 1)
                for message_type, selectors in get_handler_selectors(method):
                    handlers.setdefault(message_type, []).append((forward, selectors))

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.controllers: list[Controller[Any]] = []

    def attach(self, controller: ControllerT) -> ControllerT:
        """Hold a controller of a class that `CONTROLLERS` names, or of a subclass; the controller is returned."""
        self.controllers.append(controller)
        return controller

    if not TYPE_CHECKING:  # a type checker would take every name for one that exists

        def __getattr__(self, name: str) -> Any:
            """An action of a controller: Textual asks the screen for it by name."""
            if name.startswith("action_"):
                for controller in self.__dict__.get("controllers", ()):
                    method = getattr(controller, name, None)
                    if method is not None:
                        return method
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def run_worker(self, work: Any, *arguments: Any, **options: Any) -> Worker[Any]:
        """Textual's, but a worker that is still at it when the screen goes ends there, as it finds its widgets gone."""
        task = work if options.get("thread") else partial(_run_while_displayed, self, work)
        return super().run_worker(task, *arguments, **options)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action can run: the controller that has it answers for its own. None does on a screen that took
        another one's place just now, and has no widgets yet, nor on one that goes, and has some no more (then it is not
        displayed): a key that was on its way would find it so.
        """
        if not self.is_mounted or not self.display:
            return False
        for controller in self.controllers:
            if hasattr(controller, f"action_{action}"):
                return controller.check_action(action, parameters)
        return super().check_action(action, parameters)


async def _run_while_displayed(screen: Screen[Any], work: Any) -> Any:
    try:
        return await (work() if callable(work) else work)
    except NoMatches:
        if screen.display:
            raise


def _collect_bindings(controller: type[Controller[Any]]) -> list[BindingType]:
    return [binding for base in reversed(controller.__mro__) for binding in base.__dict__.get("BINDINGS", ())]


def _collect_handlers(controller: type[Controller[Any]]) -> dict[str, Any]:
    """The methods of a controller that are decorated with `@on`, by name."""
    return {
        name: method
        for base in reversed(controller.__mro__)
        for name, method in base.__dict__.items()
        if get_handler_selectors(method)
    }


def _make_forwarder(controller: type[Controller[Any]], name: str, *, takes_message: bool) -> Callable[..., Any]:
    def forward(self: ControlledScreen[Any], message: Message) -> Any:
        attached = next((each for each in self.controllers if isinstance(each, controller)), None)
        if attached is None:
            return None
        method = getattr(attached, name)
        return method(message) if takes_message else method()

    return forward


def set_size_classes(screen: Screen[Any]) -> None:
    """Set the classes of the terminal's size before the widgets are there, or all of them are styled again."""
    for size, breakpoints in zip(
        screen.app.size, (screen.HORIZONTAL_BREAKPOINTS, screen.VERTICAL_BREAKPOINTS), strict=True
    ):
        names = [name for least, name in breakpoints or () if size >= least]
        screen.add_class(*names[-1:], update=False)
