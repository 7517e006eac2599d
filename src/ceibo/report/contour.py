"""Isolines of a function on a grid (marching squares), and a grid as a small PNG picture."""

import base64
import struct
import zlib

import numpy as np

from ceibo.gp.inputs import Array

Segment = tuple[tuple[float, float], tuple[float, float]]


def isolines(Z: Array, level: float) -> list[Segment]:
    """Segments of {Z = level} for a grid Z (rows, columns), in units of columns and rows."""
    segments: list[Segment] = []
    rows, columns = Z.shape
    for i in range(rows - 1):
        for j in range(columns - 1):
            places = ((j, i), (j + 1, i), (j + 1, i + 1), (j, i + 1))
            corners = tuple((x, y, float(Z[y, x])) for x, y in places)
            crossings = []
            for (x0, y0, z0), (x1, y1, z1) in zip(corners, corners[1:] + corners[:1], strict=True):
                if (z0 < level) != (z1 < level):
                    share = (level - z0) / (z1 - z0)
                    crossings.append((x0 + share * (x1 - x0), y0 + share * (y1 - y0)))
            if len(crossings) == 2:
                segments.append((crossings[0], crossings[1]))
            elif len(crossings) == 4:  # a saddle: the centre decides which corners belong together
                above = (corners[0][2] >= level) == (
                    np.mean([corner[2] for corner in corners]) >= level
                )
                pairs = ((0, 1), (2, 3)) if above else ((3, 0), (1, 2))
                segments += [(crossings[a], crossings[b]) for a, b in pairs]
    return segments


def png(shares: Array, colours: Array) -> str:
    """A data address of a picture: shares (rows, columns) in [0, 1] through a table of colours
    (256, 3).
    """
    pixels = colours[np.clip((shares * 255).round().astype(int), 0, 255)].astype(np.uint8)
    height, width = shares.shape
    raw = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(raw, 9)) + _chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def colour_table(stops: list[tuple[int, int, int]]) -> Array:
    """256 colours through evenly spaced stops."""
    places = np.linspace(0, 1, len(stops))
    return np.stack(
        [np.interp(np.linspace(0, 1, 256), places, [stop[k] for stop in stops]) for k in range(3)],
        axis=1,
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
