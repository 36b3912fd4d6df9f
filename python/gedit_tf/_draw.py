"""Pictures of graphs for notebooks."""
import html
from typing import Any

import gedit_tf._run as _run


class Picture:
    """The page that `gedit draw` makes: one HTML document without links to the network."""

    def __init__(self, page: str, height: int = 600):
        self.page, self.height = page, height

    def _repr_html_(self) -> str:
        return ('<iframe srcdoc="%s" style="width: 100%%; height: %dpx; border: 1px solid #ccc"></iframe>'
                % (html.escape(self.page), self.height))

    def save(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page)


def draw(model: Any, height: int = 600, **options: Any) -> Picture:
    """The graph as a picture that a notebook shows, `height` pixels high; options as of `gedit draw`."""
    options.setdefault("format", "html")
    return Picture(bytes(_run.run("draw", model, **options)).decode("utf-8"), height)
