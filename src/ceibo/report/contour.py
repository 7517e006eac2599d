"""Isolines of a function on a grid (marching squares), and a grid as a small PNG picture."""

import base64
import struct
import zlib
from collections.abc import Sequence

import numpy as np

from ceibo.gp.inputs import Array

Point = tuple[float, float]
Segment = tuple[Point, Point]
_CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1))  # (column, row) around a cell


def isolines(Z: Array, level: float) -> list[Segment]:
    """Segments of {Z = level} for a grid Z (rows, columns), in units of columns and rows."""
    rows, columns = Z.shape
    segments: list[Segment] = []
    for i in range(rows - 1):
        for j in range(columns - 1):
            corners = [(j + x, i + y, float(Z[i + y, j + x])) for x, y in _CORNERS]
            segments += _segments(corners, level)
    return segments


def _segments(corners: Sequence[tuple[int, int, float]], level: float) -> list[Segment]:
    """The segments within a cell, given its corners (column, row, value) around it."""
    crossings = []
    for (x0, y0, z0), (x1, y1, z1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if (z0 < level) != (z1 < level):
            share = (level - z0) / (z1 - z0)
            crossings.append((x0 + share * (x1 - x0), y0 + share * (y1 - y0)))
    if len(crossings) < 4:
        return list(zip(crossings[::2], crossings[1::2], strict=True))
    # A saddle: the centre decides which corners belong together.
    centre = np.mean([z for _, _, z in corners])
    if (corners[0][2] >= level) != (centre >= level):
        crossings = [crossings[3], *crossings[:3]]
    a, b, c, d = crossings
    return [(a, b), (c, d)]


def png(shares: Array, colours: Array) -> str:
    """A data address of a picture of shares (rows, columns) in [0, 1] in 256 colours (256, 3)."""
    pixels = colours[np.clip((shares * 255).round().astype(int), 0, 255)].astype(np.uint8)
    height, width = shares.shape
    raw = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(raw, 9)) + _chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def colour_table(stops: list[tuple[int, int, int]]) -> Array:
    """256 colours (256, 3) through evenly spaced stops."""
    at, places = np.linspace(0, 1, 256), np.linspace(0, 1, len(stops))
    return np.stack([np.interp(at, places, channel) for channel in np.array(stops).T], axis=1)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
