"""The folder as an outline: a pure model of the visible rows and a widget that draws only those on screen."""
