#!/usr/bin/env bash
# Trains random configurations of every method (tests/campaigns/configurations.py) and writes
# benchmarks/results/configurations.md. Stopped, it goes on where it was.
set -euo pipefail
. "$(dirname "$0")/venv.sh" all,dev
export PYTHONPATH=tests:. OMP_NUM_THREADS=1 XLA_FLAGS=--xla_cpu_multi_thread_eigen=false
exec nice -n 5 .venv/bin/python -m campaigns.configurations "$@"
