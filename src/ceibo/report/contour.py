"""A function on a grid: its isolines (marching squares), hatched regions, a small PNG picture."""

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


def hatching(
    Z: Array, level: float, across: Point, up: Point, smooth: bool, gap: float = 9.0
) -> list[Segment]:
    """Diagonal lines over {Z < level}, in pixels, for a grid Z (rows, columns).

    Args:
        Z: values, the first row at the bottom.
        level: below which there are lines.
        across, up: pixels of the box from left to right and from bottom to top.
        smooth: interpolate between the points of the grid; otherwise each is a cell.
        gap: pixels from line to line, across.
    """
    left, right = across
    bottom, top = up
    width, height = right - left, bottom - top
    segments: list[Segment] = []
    for start in np.arange(-height, width, gap):
        # from the lower left to the upper right, within the box
        steps = np.linspace(max(0.0, -start), min(height, width - start), 160)
        x, y = start + steps, steps
        inside = _at(Z, x / width, y / height, smooth) < level
        edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(int), [0]])))
        for first, last in zip(edges[::2], edges[1::2] - 1, strict=True):
            ends = [(float(left + x[k]), float(bottom - y[k])) for k in (first, last)]
            segments.append((ends[0], ends[1]))
    return segments


def _at(Z: Array, across: Array, up: Array, smooth: bool) -> Array:
    """Values at shares of the way from left to right and from bottom to top."""
    rows, columns = Z.shape
    if not smooth:
        i = np.clip((up * rows).astype(int), 0, rows - 1)
        j = np.clip((across * columns).astype(int), 0, columns - 1)
        return np.asarray(Z[i, j])
    y, x = np.clip(up, 0, 1) * (rows - 1), np.clip(across, 0, 1) * (columns - 1)
    i, j = np.minimum(y.astype(int), rows - 2), np.minimum(x.astype(int), columns - 2)
    u, v = y - i, x - j
    low = Z[i, j] * (1 - v) + Z[i, j + 1] * v
    high = Z[i + 1, j] * (1 - v) + Z[i + 1, j + 1] * v
    return np.asarray(low * (1 - u) + high * u)


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
