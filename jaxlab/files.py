"""Writing files so that a reader never sees half of one, and reading arrays from files that nobody vouches for."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import zipfile
from pathlib import Path

import numpy as np

_DEFLATE = 1032
"""No deflated stream is longer than so many times its packed length."""
_KINDS = "biufU"
"""Array kinds that are read: truth values, numbers and text."""


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
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder, not a file to write")
    target.parent.mkdir(parents=True, exist_ok=True)
    raw = data.encode("utf-8") if isinstance(data, str) else data
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:80]}.", suffix=".tmp")
    with contextlib.ExitStack() as stack:
        stack.callback(os.unlink, name)  # unless it took its place
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode_for_new_files(target))
        os.replace(name, target)
        stack.pop_all()


def _mode_for_new_files(target: Path) -> int:
    """The permissions of the file that is replaced, or what the umask gives a new one."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def read_arrays(source: str | os.PathLike[str] | bytes) -> dict[str, np.ndarray]:
    """Every array of an ``.npz``, from a path or from its bytes (host).

    Nothing is unpickled, and a file can't ask for more memory than it can fill: what it
    declares is compared with its own length before anything is allocated.

    Raises:
        OSError: the file can't be read.
        ValueError: it is damaged, or holds anything but truth values, numbers and text.
    """
    where = "the archive" if isinstance(source, bytes) else os.fspath(source)
    with io.BytesIO(source) if isinstance(source, bytes) else open(source, "rb") as file:
        length = file.seek(0, os.SEEK_END)
        file.seek(0)
        try:
            with zipfile.ZipFile(file) as archive:
                entries = archive.infolist()
                names = [entry.filename.removesuffix(".npy") for entry in entries]
                if len(set(names)) != len(names):
                    raise ValueError("two arrays have one name")
                if sum(entry.compress_size for entry in entries) > length:
                    raise ValueError("its entries overlap")
                return {name: _read_array(archive, entry) for name, entry in zip(names, entries, strict=True)}
        except Exception as error:  # zipfile, zlib and numpy raise ten kinds of error at a damaged file
            raise ValueError(f"{where} is no readable .npz: {error or type(error).__name__}") from None


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{entry.filename} is packed in a way that no .npz is")
    if entry.file_size > _DEFLATE * entry.compress_size:
        raise ValueError(f"{entry.filename} can't be as long as it says")
    with archive.open(entry) as member:
        version = np.lib.format.read_magic(member)
        readers = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        shape, _, dtype = readers[version](member)
        begin = member.tell()
    if dtype.kind not in _KINDS:
        raise ValueError(f"{entry.filename} holds {dtype}: truth values, numbers and text are read, nothing else")
    count = 1
    for size in shape:  # in Python's numbers, which do not overflow
        count *= size
    if min(shape, default=0) < 0 or begin + count * dtype.itemsize != entry.file_size:
        raise ValueError(f"{entry.filename} declares an array of another length than it holds")
    with archive.open(entry) as member:
        return np.lib.format.read_array(member, allow_pickle=False)
