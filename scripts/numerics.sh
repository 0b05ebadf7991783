#!/usr/bin/env bash
# The fast tests of jaxlab/ with 64 bits and an error at the first NaN (benchmarks/results/strict.md), then random
# configurations of every method
# (tests/campaigns/configurations.py, benchmarks/results/configurations.md).
set -euo pipefail
. "$(dirname "$0")/venv.sh" all,dev
export PYTHONPATH=tests:. OMP_NUM_THREADS=1 XLA_FLAGS=--xla_cpu_multi_thread_eigen=false
report=benchmarks/results/strict.md
rules="JAX_ENABLE_X64=1 JAX_DEBUG_NANS=1"
tests=$(grep -L '^from baselines\|^import baselines\|^    from baselines\|^from benchmarks\|^import sharded\|^from campaigns' tests/test_*.py)
log=$(mktemp)
status=0
env $rules .venv/bin/python -m pytest -q -rfEs -m 'not slow' --tb=line $tests >"$log" || status=$?
{
  echo "# Stricter rules of JAX"
  echo
  echo "\`bash scripts/numerics.sh\`: the fast tests that use jaxlab/ alone, with \`$rules\`."
  echo
  echo "$(wc -w <<<"$tests") files, $(tail -1 "$log" | sed 's/ in [0-9.]*s.*//')."
  grep -E '^(FAILED|ERROR|SKIPPED)' "$log" | sed 's/^/- /' || true
} >"$report"
cat "$report"
.venv/bin/python -m campaigns.configurations "$@" || status=1
exit $status
