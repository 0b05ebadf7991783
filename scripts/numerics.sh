#!/usr/bin/env bash
# Runs the tests of jaxlab/ under JAX's stricter rules (tests/campaigns/numerics.py) and writes
# benchmarks/results/numerics.md: `bash scripts/numerics.sh`, or some flags as in
# `bash scripts/numerics.sh JAX_ENABLE_X64`. Stopped, it goes on where it was.
set -euo pipefail
. "$(dirname "$0")/venv.sh" all,dev
export PYTHONPATH=tests:. OMP_NUM_THREADS=1 XLA_FLAGS=--xla_cpu_multi_thread_eigen=false
export JAX_COMPILATION_CACHE_DIR="${JAX_COMPILATION_CACHE_DIR:-$PWD/build/numerics/cache}"
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 # most programs of the tests are small, and the same under each flag
exec nice -n 5 .venv/bin/python -m campaigns.numerics "$@"
