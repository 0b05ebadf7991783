#!/usr/bin/env bash
# Tables and report of the runs of scripts/six_methods.sh: bash scripts/grid.sh runs/six/cnn cnn 5
# Seeds of one method become one row; the tables go to benchmarks/results/grid-SIZE-ENCODER, the report
# stays in runs/grid. PYTHON chooses the interpreter, OUT the folder of the report.
set -euo pipefail
cd "$(dirname "$0")/.."
runs="${1:-runs/six/cnn}"
encoder="${2:-cnn}"
size="${3:-5}"
python="${PYTHON:-.venv/bin/python}"
out="${OUT:-runs/grid}"
kept="benchmarks/results/grid-$size-$encoder"
for method in "$runs"/*/; do
  folders=()
  for run in "$method"*/; do
    [ -f "$run/results.json" ] && folders+=("$run")
  done
  [ ${#folders[@]} -eq 0 ] && continue
  "$python" -m baselines.merge "$out/cells/${size}x$size-$(basename "$method")-$encoder" "${folders[@]}"
done
"$python" -m baselines.benchmark --only-report --out "$out"
mkdir -p "$kept"
cp "$out"/tables.md "$out"/agreement.md "$out"/scores.csv "$kept"/
