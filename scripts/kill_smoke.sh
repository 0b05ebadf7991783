#!/usr/bin/env bash
# Kills a smoke run of the benchmark at 20 random moments (tests/campaigns/smoke.py) and writes
# benchmarks/results/kill-smoke.md. Half an hour on two cores.
set -euo pipefail
. "$(dirname "$0")/venv.sh" all,dev
export PYTHONPATH=tests:.
export JAX_COMPILATION_CACHE_DIR="${JAX_COMPILATION_CACHE_DIR:-$(mktemp -d)}"
exec .venv/bin/python -m campaigns.smoke "$@"
