"""Files written whole or not at all."""

import shutil
import uuid
from pathlib import Path


def write_whole(path: str | Path, text: str) -> None:
    """Writes a file in one step: a reader sees the old content or the new, also after a crash."""
    path = Path(path)
    # a device or a pipe, such as /dev/stdout
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(text.encode())
        return
    target = path.resolve()
    beside = target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex}")
    try:
        beside.write_bytes(text.encode())
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
