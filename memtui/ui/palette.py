"""The command palette, made from the bindings that are in force."""

from collections.abc import Awaitable, Callable

from textual.command import DiscoveryHit, Hit, Hits, Provider

from memtui.ui.actions import Action, actions_of

_BY_NAME = 1_000.0
"""The score of a command whose name is typed: above whatever merely holds the same letters."""


class ActionsProvider(Provider):
    """Offers every action of the screen below the palette."""

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for action in sorted(actions_of(self.screen), key=lambda action: not action.binding.show):
            yield DiscoveryHit(action.words, self._runs(action), help=action.shown_keys)

    async def search(self, query: str) -> Hits:
        """Those that match: by what they do, or by the name that is shown of those that have no key."""
        matcher = self.matcher(query)
        for action in actions_of(self.screen):
            typed = query.strip().removeprefix(":").casefold()
            is_named = bool(typed) and any(name.startswith(typed) for name in action.names)
            score = _BY_NAME if is_named else matcher.match(action.words)
            if score > 0:
                yield Hit(score, matcher.highlight(action.words), self._runs(action), help=action.shown_keys)

    def _runs(self, action: Action) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            await self.app.run_action(action.binding.action, default_namespace=action.node)

        return run
