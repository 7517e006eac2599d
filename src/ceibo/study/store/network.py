"""Whether a file lies on a network file system, where SQLite's locks cannot be trusted."""

import os
import re
from pathlib import Path

_TYPES = (
    "nfs nfs4 cifs smb3 smbfs 9p afs ceph lustre gpfs beegfs glusterfs pvfs2 orangefs ocfs2"
    " gfs2 coda ncpfs panfs davfs fuse.sshfs fuse.glusterfs fuse.s3fs fuse.rclone fuse.gcsfuse"
    " fuse.blobfuse fuse.blobfuse2 fuse.ceph-fuse fuse.juicefs fuse.davfs fuse.davfs2"
    " fuse.smbnetfs fuse.mfs fuse.weka"
)
NETWORK = frozenset(_TYPES.split())


def network_file_system(path: Path, mountinfo: Path = Path("/proc/self/mountinfo")) -> str | None:
    """The type of the network file system that holds `path`; None if it is local or not known."""
    try:
        lines = mountinfo.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return None
    target = os.path.realpath(path)
    best, kind = "", ""
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[4])
        inside = target == point or target.startswith(point.rstrip("/") + "/")
        # a later mount on the same point hides the earlier one
        if inside and len(point) >= len(best):
            best, kind = point, after.split(" ")[0]
    return kind if kind in NETWORK else None
