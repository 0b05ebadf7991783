#!/usr/bin/env bash
# Kills generate, dataset, train and benchmark at random moments, fills the disk, takes the permission to
# write (tests/campaigns/kill.py), and writes benchmarks/results/kill.{json,md}. The last two need root (mount).
set -euo pipefail
. "$(dirname "$0")/venv.sh" all,dev
export PYTHONPATH=tests:. OMP_NUM_THREADS=1 XLA_FLAGS=--xla_cpu_multi_thread_eigen=false
export JAX_COMPILATION_CACHE_DIR="${JAX_COMPILATION_CACHE_DIR:-$(mktemp -d)}"
exec nice -n 5 .venv/bin/python -m campaigns.kill "$@"
