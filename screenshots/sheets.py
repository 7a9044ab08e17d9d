"""Contact sheets of all screens, to be looked at: one for each size of the terminal and each set of colours.

`python -m screenshots.sheets DIRECTORY [SCENE ...]` draws every scene of `screenshots.make` (or those named) at 80x24,
120x36 and 200x50, dark, light and in 16 colours, and puts them side by side in nine PNGs. It needs `pip install
'.[screenshots]'`.
"""

import asyncio
import io
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from PIL import Image, ImageDraw

from screenshots.make import PICTURES, Picture, scene, take_png

SIZES = ((80, 24), (120, 36), (200, 50))
THEMES = {"dark": "memtui-dark", "light": "memtui-light", "16": "ansi-dark"}
WIDTH = 800
"""Pixels that one screen is wide on a sheet."""
_COLUMNS = 4
_GAP = 12
_LABEL = 16
_VARIANTS = ("80x24", "200x50", "light")


def list_scenes() -> dict[str, Picture]:
    """The scenes by name, each once, whatever their size and theme."""
    scenes: dict[str, Picture] = {}
    for picture in PICTURES:
        name, _, variant = picture.name.rpartition("-")
        scenes.setdefault(name if variant in _VARIANTS else picture.name, picture)
    return scenes


async def draw_screen(picture: Picture) -> Image.Image:
    async with scene(picture) as app:
        image = Image.open(io.BytesIO(take_png(app))).convert("RGB")
    return image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)


def lay_out(screens: Sequence[tuple[str, Image.Image]]) -> Image.Image:
    """The screens in rows, each below its name."""
    height = max(image.height for _, image in screens) + _LABEL + _GAP
    rows = -(-len(screens) // _COLUMNS)
    sheet = Image.new("RGB", (_GAP + min(len(screens), _COLUMNS) * (WIDTH + _GAP), _GAP + rows * height), "#777777")
    pen = ImageDraw.Draw(sheet)
    for number, (name, image) in enumerate(screens):
        x, y = _GAP + number % _COLUMNS * (WIDTH + _GAP), _GAP + number // _COLUMNS * height
        pen.text((x, y), name, fill="white")
        sheet.paste(image, (x, y + _LABEL))
    return sheet


def main(arguments: Sequence[str]) -> int:
    """Draw the sheets into a directory."""
    scenes = list_scenes()
    names = set(arguments[1:]) or set(scenes)
    if not arguments or not Path(arguments[0]).is_dir() or names - set(scenes):
        print(
            f"Usage: python -m screenshots.sheets DIRECTORY [SCENE ...]\nScenes: {', '.join(scenes)}", file=sys.stderr
        )
        return 2
    for size, (colours, theme) in product(SIZES, THEMES.items()):
        wanted = {name: replace(picture, size=size, theme=theme) for name, picture in scenes.items() if name in names}
        sheet = lay_out([(name, asyncio.run(draw_screen(picture))) for name, picture in wanted.items()])
        path = Path(arguments[0]) / f"{size[0]}x{size[1]}-{colours}.png"
        sheet.save(path, optimize=True)
        print(path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
