#!/usr/bin/env bash
# Runs the tests in an environment of their own: `bash scripts/test.sh`, or with `--all` the slow
# ones too. Further arguments go to pytest. Every skip is listed with its reason.
set -euo pipefail
. "$(dirname "$0")/venv.sh" all,dev

select=(-m "not slow")
if [ "${1:-}" = "--all" ]; then
  shift
  select=(--durations=25)
fi
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
# A process for each core, whole files at a time, so that the tests of a file share compilations.
exec .venv/bin/python -m pytest --numprocesses 2 --dist loadfile "${select[@]}" "$@"
