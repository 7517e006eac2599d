"""Pictures from files: every format gives the same pictures, and what is wrong is said with the
file's name.
"""

import gzip
from pathlib import Path

import numpy as np
import pytest

from ceibo.errors import InputError
from ceibo_lab.compression.data import (
    Pictures,
    load_folder,
    load_idx,
    load_mnist,
    load_tar,
    read_idx,
)
from ceibo_lab.compression.prepare import HE_INPUT, Preparation, flat_grey, prepared
from tests.lab.compression.picture_files import folder_of, idx, png, tar_of

RNG = np.random.default_rng(0)
COLOURED = RNG.integers(0, 256, (6, 5, 4, 3), dtype=np.uint8)


def by_class(prefix: str = "") -> dict[str, bytes]:
    """Pictures 0, 1 of class a, 2, 3 of b, 4, 5 of c."""
    return {f"{prefix}{'abc'[k // 2]}/images/{k}.png": png(COLOURED[k]) for k in range(6)}


@pytest.mark.parametrize("zipped", [True, False])
def test_idx_files_are_read_zipped_or_not(tmp_path: Path, zipped: bool) -> None:
    pixels, labels = RNG.integers(0, 256, (7, 3, 4), dtype=np.uint8), np.arange(7, dtype=np.uint8)
    suffix, pack = (".gz", gzip.compress) if zipped else ("", bytes)
    for name, array in (("t10k-images-idx3", pixels), ("t10k-labels-idx1", labels)):
        (tmp_path / f"{name}-ubyte{suffix}").write_bytes(pack(idx(array)))
    found = load_mnist(tmp_path, "test")
    np.testing.assert_array_equal(found.pixels, pixels)
    np.testing.assert_array_equal(found.labels, labels)
    assert flat_grey(found).shape == (7, 12)
    assert float(flat_grey(found)[0, 0]) == pytest.approx(pixels[0, 0, 0] / 255)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hello", "expected an IDX file of unsigned bytes"),
        (b"\0\0\x0d\3", "expected an IDX file of unsigned bytes"),
        (b"\0\0\x08\3\0\0", "header is cut short"),
        (
            idx(np.zeros((3, 2, 2), np.uint8))[:-1],
            r"the header says \(3, 2, 2\), 12 bytes, but 11 came",
        ),
        (gzip.compress(b"\0\0\x08\1", mtime=0)[:-4], "cannot be read"),
    ],
)
def test_broken_idx_files_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken-ubyte"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"broken-ubyte: .*{message}"):
        read_idx(path)


def test_idx_pairs_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    images, labels = tmp_path / "images", tmp_path / "labels"
    images.write_bytes(idx(np.zeros((3, 2, 2), np.uint8)))
    for marks, message in (
        (np.zeros(2, np.uint8), "labels: expected 3 labels"),
        (np.full(3, 12, np.uint8), "labels: expected labels from 0 to 9, got 12"),
    ):
        labels.write_bytes(idx(marks))
        with pytest.raises(InputError, match=message):
            load_idx(images, labels)
    with pytest.raises(InputError, match=r"t10k-images-idx3-ubyte, t10k-images-idx3-ubyte.gz"):
        load_mnist(tmp_path)
    with pytest.raises(InputError, match="split must be one of train, test"):
        load_mnist(tmp_path, "val")


def test_folder_and_archives_give_the_same_pictures(tmp_path: Path) -> None:
    labels = "".join(f"{k}.png {k // 2}\n" for k in range(6))
    listed = {f"images/{k}.png": png(COLOURED[k]) for k in range(6)} | {
        "labels.txt": labels.encode()
    }
    for found in (
        load_folder(folder_of(tmp_path / "folder", by_class())),
        load_tar(tar_of(tmp_path / "classes.tar", by_class())),
        load_tar(
            tar_of(tmp_path / "split.tar", by_class("val/") | {"train/z/0.png": b"never read"}),
            "val",
        ),
        load_tar(tar_of(tmp_path / "listed.tar", listed)),
    ):
        np.testing.assert_array_equal(found.pixels, COLOURED)
        np.testing.assert_array_equal(found.labels, [0, 0, 1, 1, 2, 2])
    assert load_folder(tmp_path / "folder", ["c", "b", "a"]).labels.tolist() == [2, 2, 1, 1, 0, 0]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a/readme.txt": b""}, "no pictures found; expected files ending in .jpg"),
        ({"loose.png": png(COLOURED[0])}, "picture loose.png is in no class folder"),
        ({"a/1.png": b"no picture"}, "a/1.png is no picture that can be read"),
        (
            {"a/1.png": png(COLOURED[0]), "a/2.png": png(COLOURED[0, 1:])},
            "one size, but a/2.png has",
        ),
        ({"z/1.png": png(COLOURED[0])}, "unknown class 'z'; expected one of a, b"),
    ],
)
def test_bad_folders_and_archives_name_what_is_wrong(
    tmp_path: Path, files: dict[str, bytes], message: str
) -> None:
    with pytest.raises(InputError, match=f"folder.*{message}"):
        load_folder(folder_of(tmp_path / "folder", files), ["a", "b"])
    with pytest.raises(InputError, match=f"some.tar.*{message}"):
        load_tar(tar_of(tmp_path / "some.tar", files), classes=["a", "b"])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("0.png 1\n", "picture images/1.png has no line"),
        ("0.png cat\n", 'labels.txt, line 1: expected "<picture>'),
    ],
)
def test_bad_lists_of_labels_name_the_line(tmp_path: Path, labels: str, message: str) -> None:
    files = {f"images/{k}.png": png(COLOURED[k]) for k in range(2)} | {
        "labels.txt": labels.encode()
    }
    with pytest.raises(InputError, match=message):
        load_tar(tar_of(tmp_path / "listed.tar", files))


def test_missing_places_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: expected a folder"):
        load_folder(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"nowhere\.tar: cannot be read as a tar"):
        load_tar(tmp_path / "nowhere.tar")
    (tmp_path / "text.tar").write_text("not an archive")
    with pytest.raises(InputError, match=r"text\.tar: cannot be read as a tar"):
        load_tar(tmp_path / "text.tar")


def test_preparation_crops_scales_and_orders_colours() -> None:
    pixels = RNG.integers(0, 256, (2, 227, 227, 3), dtype=np.uint8)
    found = prepared(pixels, HE_INPUT)
    assert found.shape == (2, 3, 224, 224)
    assert float(found[1, 0, 0, 0]) == pytest.approx(float(pixels[1, 1, 1, 2]) - 103.939, abs=1e-3)
    plain = Preparation(8, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    flat = np.full((1, 4, 4, 3), 255, np.uint8)
    assert prepared(flat, plain).shape == (1, 3, 8, 8)
    np.testing.assert_allclose(prepared(flat, plain), 1.0)
    with pytest.raises(InputError, match="coloured pictures"):
        prepared(pixels[..., 0], plain)
    with pytest.raises(InputError, match="grey pictures"):
        flat_grey(Pictures(pixels, np.zeros(2, np.int64)))
