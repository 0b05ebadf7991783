"""The Python code of a page of documentation, as a module."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def run(page: str) -> ModuleType:
    """Run all ``python`` blocks of a page (a path from the root of the project), top to bottom."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.S)
    assert blocks, f"{page} shows no code"
    name = "page_" + re.sub(r"\W", "_", page)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.py"
        path.write_text("\n\n".join(blocks), "utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module
