#!/usr/bin/env bash
# From nothing to a trained and scored agent: makes .venv, installs, and runs scripts/quickstart.py.
# A second run installs nothing. Arguments go to the program (--help).
set -euo pipefail
. "$(dirname "$0")/venv.sh" train,viz
exec .venv/bin/python scripts/quickstart.py "$@"
