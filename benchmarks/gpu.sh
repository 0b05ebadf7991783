#!/usr/bin/env bash
# The suite and the training targets on one GPU machine, from a clean copy of what is committed, with
# whatever JAX the interpreter has. Nothing is downloaded. Writes ONE JSON file.
#
#   bash benchmarks/gpu.sh [OUT.json]
#
# PYTHON   interpreter (python3)
# WHEELS   folder of wheels for what it lacks (chex, flax, optax, orbax-checkpoint, tyro, rich, ...); jax stays as it is
# METHODS  methods to train on 5x5-v1 with the CNN (bc dagger gail bco sqil iupe); SEEDS  how many seeds (5)
# QUICK=1  next to nothing of everything: does the script run?
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
out=$(realpath -m "${1:-gpu.json}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/source" "$work/packages"
if git rev-parse --git-dir > /dev/null 2>&1; then
  git archive HEAD | tar -x -C "$work/source"
else
  tar -c --exclude=.venv --exclude=runs --exclude=shared . | tar -x -C "$work/source"
fi
if [ -n "${WHEELS:-}" ]; then
  "$python" -m pip install --quiet --no-index --no-deps --target "$work/packages" "$WHEELS"/*.whl
fi
# What is installed comes first, so that no wheel takes the place of its jax or numpy.
installed=$("$python" -c 'import site, sys; print(":".join(p for p in sys.path if p.endswith("-packages")))')
export PYTHONPATH="$work/source:$installed:$work/packages"
cd "$work/source"
began=$(date +%s)

if [ -n "${QUICK:-}" ]; then
  suite=(--quick)
  options=(--size 3 --encoder mlp --epochs 4 --seeds 1)
  methods=${METHODS:-bc}
else
  suite=()
  options=(--size 5 --encoder cnn --seeds "${SEEDS:-5}")
  methods=${METHODS:-bc dagger gail bco sqil iupe}
fi
"$python" -m benchmarks "${suite[@]}" --out "$work/suite" | tee "$work/suite.log"
for method in $methods; do
  "$python" -m baselines.train "$method" "${options[@]}" --quiet --out "$work/runs/$method" > "$work/$method.log" 2>&1 ||
    echo "$method failed: $(tail -n 1 "$work/$method.log")" | tee "$work/$method.failed"
done
"$python" -m benchmarks.one_file "$work" "$out" "$(($(date +%s) - began))"
