"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomic(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Put ``data`` under ``path`` at once: whole, or not at all.

    It goes to a temporary file in the same folder, is flushed to the disk, and then takes
    the name. Missing folders are made. Text is written as UTF-8 with ``\\n`` line ends.

    Args:
        path: the file to write; an older one is replaced.
        data: ``bytes``, or text.

    Raises:
        OSError: the folder can't be written; an older file is then left as it was.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomic(Path(folder, "new", "note.txt"), "done")
    ...     Path(folder, "new", "note.txt").read_text()
    'done'
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    raw = data.encode("utf-8") if isinstance(data, str) else data
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:80]}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode_for_new_files(target))
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _mode_for_new_files(target: Path) -> int:
    """The permissions of the file that is replaced, or what the umask gives a new one."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
