#!/usr/bin/env bash
# Calls every public function wrongly (tests/campaigns/calls.py) and writes docs/bad-calls.md.
set -euo pipefail
. "$(dirname "$0")/venv.sh" all,dev
PYTHONPATH=tests:. exec .venv/bin/python -m campaigns.calls "$@"
