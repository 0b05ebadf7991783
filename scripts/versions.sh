#!/usr/bin/env bash
# Builds the wheel and tests it from another folder in empty environments, with the oldest and the newest packages
# on Python 3.11, 3.12 and 3.13 (tests/campaigns/versions.py): `bash scripts/versions.sh`, or some rows of
# benchmarks/results/versions.md only, as in `bash scripts/versions.sh 3.11:oldest 3.13:newest`.
# Interpreters are looked for on the PATH; with pyenv, PYENV_VERSION=3.11.7:3.12.1:3.13.0 puts them there.
set -euo pipefail
. "$(dirname "$0")/venv.sh" all,dev
PYTHONPATH=tests:. exec .venv/bin/python -m campaigns.versions "$@"
