#!/usr/bin/env bash
# Trains the six methods and GAIL's two controls on 5x5-v1 and sums up: bash scripts/six_methods.sh cnn 5
# One run for each method and seed, in runs/six/ENCODER/METHOD/SEED; finished ones are kept and killed
# ones resume, so it can be stopped and called again. The summary is written after every run.
# PYTHON chooses the interpreter, OUT the folder, METHODS the rows (default: all).
set -euo pipefail
cd "$(dirname "$0")/.."
encoder="${1:-cnn}"
seeds="${2:-5}"
python="${PYTHON:-.venv/bin/python}"
out="${OUT:-runs/six/$encoder}"
methods="${METHODS:-bc dagger bco iupe sqil gail gail-shuffled gail-constant}"
for seed in $(seq 0 $((seeds - 1))); do
  for name in $methods; do
    folder="$out/$name/$seed"
    [ -f "$folder/results.json" ] && continue
    control="${name#gail-}"
    extra=()
    [ "$control" != "$name" ] && extra=(--control "$control")
    "$python" -m baselines.train "${name%%-*}" --size 5 --encoder "$encoder" --seed "$seed" \
      --out "$folder" --resume --quiet "${extra[@]}" || echo "failed: $folder" >&2
    "$python" -m benchmarks.six_methods "$out" "benchmarks/results/six-methods-$encoder"
  done
done
