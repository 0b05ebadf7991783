#!/usr/bin/env bash
# Mutation testing (tests/campaigns/mutate.py): `bash scripts/mutate.sh`, or some modules as in
# `bash scripts/mutate.sh maze text`. Writes benchmarks/results/mutation.md; stopped, it goes on where it was.
set -euo pipefail
. "$(dirname "$0")/venv.sh" all,dev
export PYTHONPATH=tests:. OMP_NUM_THREADS=1 XLA_FLAGS=--xla_cpu_multi_thread_eigen=false
export JAX_COMPILATION_CACHE_DIR="${JAX_COMPILATION_CACHE_DIR:-$PWD/build/mutation/cache}"
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 # most programs of the tests are small
exec nice -n 5 .venv/bin/python -m campaigns.mutate "$@"
