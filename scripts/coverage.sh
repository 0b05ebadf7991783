#!/usr/bin/env bash
# Which lines of jaxlab/ and baselines/ the default tests run: `bash scripts/coverage.sh` writes
# benchmarks/results/coverage.md and fails below what is asked there. Half an hour to an hour.
# After new tests, `bash scripts/coverage.sh tests/test_cli.py` runs only these files again.
set -euo pipefail
. "$(dirname "$0")/venv.sh" all,dev,trust
data=build/coverage
export PYTHONPATH=tests:. JAX_COMPILATION_CACHE_DIR="${JAX_COMPILATION_CACHE_DIR:-$PWD/$data/cache}"
stamp=$data/sources

files=("$@")
if [ $# -eq 0 ]; then
  rm -rf "$data"
  mkdir -p "$data"
  find jaxlab baselines -name '*.py' -print0 | xargs -0 sha256sum >"$stamp"
  files=(tests/test_*.py)
elif ! sha256sum --check --status "$stamp"; then
  echo "The packages are not those that the other files were run on: run all of them, without arguments" >&2
  exit 2
fi

# A process for each file, one after the other: compiled functions of all files together fill the memory.
for file in "${files[@]}"; do
  name=$(basename "$file" .py)
  rm -f "$data/$name".*
  status=0
  .venv/bin/python -m coverage run --data-file="$data/$name.data" -m pytest -q -m "not slow" "$file" || status=$?
  # pytest ends with 5 where all tests of a file are slow ones.
  if [ $status -ne 0 ] && [ $status -ne 5 ]; then
    touch "$data/$name.failed"
  fi
done
enough=0
.venv/bin/python -m coverage combine --quiet --keep --data-file="$data/all" "$data"/test_*.data
.venv/bin/python -m coverage json --quiet --data-file="$data/all" -o "$data/all.json"
.venv/bin/python -m campaigns.lines "$data/all.json" benchmarks/results/coverage.md || enough=1
if compgen -G "$data/*.failed" >&2; then
  echo "Tests failed in these files" >&2
  exit 1
fi
exit $enough
