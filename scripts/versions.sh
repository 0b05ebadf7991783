#!/usr/bin/env bash
# Builds the wheel, installs it into an empty environment for every Python from 3.11 that is found here, once with the
# oldest packages that pyproject.toml allows and once with the newest, and tests it from another folder.
# Writes benchmarks/results/versions.md. Some legs only: `bash scripts/versions.sh 3.11:oldest 3.13:newest`.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD report=benchmarks/results/versions.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tests="test_maze.py test_text.py test_env.py test_tiles.py test_solve_table.py test_gym.py test_bc.py test_determinism.py"
legs=("$@")
[ ${#legs[@]} -gt 0 ] || legs=(3.11:oldest 3.11:newest 3.12:newest 3.13:newest)
export OMP_NUM_THREADS=1 XLA_FLAGS=--xla_cpu_multi_thread_eigen=false PIP_DISABLE_PIP_VERSION_CHECK=1

python3 -m pip wheel --quiet --no-deps --wheel-dir "$work/wheel" .
wheel=$(echo "$work"/wheel/*.whl)
mkdir "$work/elsewhere"
cp -r tests docs pyproject.toml "$work/elsewhere/"
cd "$work/elsewhere"

{
  echo "# Versions"
  echo
  echo "\`bash scripts/versions.sh\`: the wheel with the extras gym and train in an empty environment, tested from another"
  echo "folder with $tests."
  echo
  echo "| Python | packages | jax | numpy | chex | flax | optax | orbax | gymnasium | result |"
  echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
} >"$work/report"
status=0
for leg in "${legs[@]}"; do
  python=python${leg%%:*} which=${leg##*:} venv=$work/venv
  if ! command -v "$python" >/dev/null; then
    echo "| ${leg%%:*} | $which | | | | | | | | no such interpreter here |" >>"$work/report"
    continue
  fi
  rm -rf "$venv"
  "$python" -m venv "$venv"
  oldest=()
  if [ "$which" = oldest ]; then
    needs=$("$python" -c 'import sys, tomllib
project = tomllib.load(open(sys.argv[1], "rb"))["project"]
extras = project["optional-dependencies"]
print(*(need.replace(">=", "==") for need in [*project["dependencies"], *extras["gym"], *extras["train"]]), sep="\n")' \
      "$root/pyproject.toml")
    mapfile -t oldest <<<"$needs"
  fi
  if ! "$venv/bin/pip" install --quiet "$wheel[gym,train]" "${oldest[@]}" 'pytest>=8' 'hypothesis>=6.100' 'pillow>=10'; then
    echo "| ${leg%%:*} | $which | | | | | | | | does not install |" >>"$work/report"
    status=1
    continue
  fi
  versions=$("$venv/bin/python" -c 'from importlib.metadata import version
names = ("jax", "numpy", "chex", "flax", "optax", "orbax-checkpoint", "gymnasium")
print(*map(version, names), sep=" | ")')
  "$venv/bin/python" -P -c 'import baselines, jaxlab
assert all("site-packages" in module.__file__ for module in (baselines, jaxlab))
assert len(jaxlab.splits.load("5x5-v1")["train"]) == 100'
  (cd tests && "$venv/bin/python" -m pytest -q -rfE -m 'not slow' $tests) >"$work/log" 2>&1 || status=1
  grep -E '^(FAILED|ERROR)' "$work/log" || true
  full=$("$venv/bin/python" -c 'import platform; print(platform.python_version())')
  echo "| $full | $which | $versions | $(tail -1 "$work/log" | sed 's/ in [0-9.]*s.*//; s/=//g') |" >>"$work/report"
done
mv "$work/report" "$root/$report"
cat "$root/$report"
exit $status
