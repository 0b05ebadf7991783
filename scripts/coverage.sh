#!/usr/bin/env bash
# Which lines of jaxlab/ and baselines/ the default tests run: `bash scripts/coverage.sh` writes
# benchmarks/results/coverage.md and fails below what is asked there. Half an hour to an hour; stopped, it goes on
# where it was. After new tests only their files are run again, after a change of a package all of them.
set -euo pipefail
. "$(dirname "$0")/venv.sh" all,dev,trust
data=build/coverage
stamp=$data/sources
export PYTHONPATH=tests:.

if ! sha256sum --check --status "$stamp" 2>/dev/null; then
  rm -rf "$data"
  mkdir -p "$data"
  find jaxlab baselines -name '*.py' -print0 | xargs -0 sha256sum >"$stamp"
fi
# A process for each file, one after the other: compiled functions of all files together fill the memory.
failed=()
for file in tests/test_*.py; do
  seen=$data/$(basename "$file" .py)
  if [ ! "$seen" -nt "$file" ]; then
    status=0
    .venv/bin/python -m coverage run --data-file="$seen" -m pytest -q -m "not slow" "$file" || status=$?
    # pytest ends with 5 where all tests of a file are slow ones.
    if [ $status -ne 0 ] && [ $status -ne 5 ]; then
      failed+=("$file")
      touch --date=@0 "$seen" # older than its file: it is run again next time
    fi
  fi
done
.venv/bin/python -m coverage combine --quiet --keep --data-file="$data/all" "$data"/test_*
.venv/bin/python -m coverage json --quiet --data-file="$data/all" -o "$data/all.json"
.venv/bin/python -m campaigns.lines "$data/all.json" benchmarks/results/coverage.md "${failed[@]}"
