#!/usr/bin/env bash
# Fuzzes every reader of files (tests/campaigns/fuzz.py) and writes benchmarks/results/fuzz.{json,md}:
# `bash scripts/fuzz.sh`, or a hundredth of it with `--scale 0.01`. An hour on one core.
set -euo pipefail
. "$(dirname "$0")/venv.sh" all,dev,trust
export PYTHONPATH=tests:. OMP_NUM_THREADS=1 XLA_FLAGS=--xla_cpu_multi_thread_eigen=false
exec nice -n 5 .venv/bin/python -m campaigns.fuzz "$@"
