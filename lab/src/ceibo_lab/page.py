"""A page of headings, paragraphs, tables and pictures, written as Markdown and as HTML."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:62rem;margin:2rem auto;padding:0"
    " 1rem}table{border-collapse:collapse}td,th{border-bottom:1px solid #bbb;padding:.2rem"
    " .6rem;text-align:left}img{max-width:100%}code{background:#eee}"
)


@final
@dataclass
class Page:
    """Blocks in order. Text may hold `code` and **bold**, and nothing else."""

    title: str
    blocks: list[tuple[str, object]] = field(default_factory=list)

    def heading(self, text: str, level: int = 2) -> None:
        self.blocks.append((f"h{level}", text))

    def paragraph(self, text: str) -> None:
        self.blocks.append(("p", text))

    def items(self, texts: Sequence[str]) -> None:
        if texts:
            self.blocks.append(("ul", list(texts)))

    def code(self, text: str) -> None:
        self.blocks.append(("pre", text))

    def picture(self, path: str, text: str) -> None:
        self.blocks.append(("img", (path, text)))

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        if rows:
            self.blocks.append(("table", [list(head), *[list(row) for row in rows]]))

    def markdown(self) -> str:
        blocks = [_markdown(kind, content) for kind, content in self.blocks]
        return "\n\n".join([f"# {self.title}", *blocks]) + "\n"

    def html(self) -> str:
        body = "\n".join(_html(kind, content) for kind, content in self.blocks)
        title = html.escape(self.title)
        head = (
            '<meta charset="utf-8"><meta name="viewport"'
            f' content="width=device-width"><title>{title}</title>'
        )
        top = f'<!doctype html><html lang="en"><head>{head}<style>{_STYLE}</style></head>'
        return f"{top}<body><h1>{title}</h1>\n{body}\n</body></html>\n"


def _markdown(kind: str, content: object) -> str:
    if kind.startswith("h"):
        return f"{'#' * int(kind[1])} {content}"
    if kind == "ul" and isinstance(content, list):
        return "\n".join(f"- {text}" for text in content)
    if kind == "pre":
        return f"```\n{content}\n```"
    if kind == "img" and isinstance(content, tuple):
        return f"![{content[1]}]({content[0]})"
    if kind == "table" and isinstance(content, list):
        head, *rows = [["\\|".join(cell.split("|")) for cell in row] for row in content]
        return "\n".join(
            "| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]
        )
    return str(content)


def _html(kind: str, content: object) -> str:
    if kind.startswith("h"):
        return f"<{kind}>{_inline(str(content))}</{kind}>"
    if kind == "ul" and isinstance(content, list):
        return "<ul>" + "".join(f"<li>{_inline(text)}</li>" for text in content) + "</ul>"
    if kind == "pre":
        return f"<pre>{html.escape(str(content))}</pre>"
    if kind == "img" and isinstance(content, tuple):
        return f'<p><img src="{html.escape(content[0])}" alt="{html.escape(content[1])}"></p>'
    if kind == "table" and isinstance(content, list):
        head, *rows = content
        top = "<tr>" + "".join(f"<th>{_inline(cell)}</th>" for cell in head) + "</tr>"
        return "<table>" + top + "".join(_row(row) for row in rows) + "</table>"
    return f"<p>{_inline(str(content))}</p>"


def _row(cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in cells) + "</tr>"


def _inline(text: str) -> str:
    """Escaped, with `code` and **bold**."""
    out = html.escape(text, quote=False)
    for mark, tag in (("**", "strong"), ("`", "code")):
        parts = out.split(mark)
        if len(parts) % 2 == 1:
            out = "".join(
                part if k % 2 == 0 else f"<{tag}>{part}</{tag}>" for k, part in enumerate(parts)
            )
    return out
