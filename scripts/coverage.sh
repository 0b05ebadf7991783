#!/usr/bin/env bash
# Line coverage of jaxlab/ and baselines/ by the default tests, in one process (benchmarks/results/coverage.md):
# `bash scripts/coverage.sh`. Fails below 95 % for jaxlab and 85 % for baselines.
set -euo pipefail
. "$(dirname "$0")/venv.sh" all,dev,trust
export OMP_NUM_THREADS=1 XLA_FLAGS=--xla_cpu_multi_thread_eigen=false COVERAGE_FILE=build/coverage/data
report=benchmarks/results/coverage.md
mkdir -p build/coverage
.venv/bin/python -m coverage run --source=jaxlab,baselines -m pytest -q -m "not slow" "$@"
status=0
{
  echo "# Line coverage"
  echo
  echo "\`bash scripts/coverage.sh\`: by the default tests, subprocesses not counted."
  for package in jaxlab:95 baselines:85; do
    echo
    .venv/bin/python -m coverage report --include="${package%:*}/*" --format=markdown --show-missing --skip-covered \
      --fail-under="${package#*:}" || status=1
  done
} >"$report"
cat "$report"
exit $status
