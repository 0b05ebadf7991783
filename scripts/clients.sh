#!/usr/bin/env bash
# Feeds other libraries what jaxlab makes: `bash scripts/clients.sh [sb3] [imitation] [il-datasets]`,
# by default all three. imitation needs gymnasium 0.29 and il-datasets pins datasets, so each gets
# an environment of its own under build/clients, made at the first run. PYTHON names the
# Python that has jaxlab with its extras (default: .venv/bin/python).
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
clients=build/clients
data=build/clients/data
mkdir -p "$clients"
[ $# -gt 0 ] || set -- sb3 imitation il-datasets

environment() { # NAME REQUIREMENT...: make it unless it is there
  if [ ! -e "$clients/$1/ready" ]; then
    "$python" -m venv "$clients/$1"
    "$clients/$1/bin/pip" install --quiet "${@:2}"
    touch "$clients/$1/ready"
  fi
}

if [ ! -e "$data/npz/train.npz" ]; then
  "$python" -m jaxlab.datasets --name 3x3-v1 --format npz --observation vector --out "$data/npz"
fi
if [ ! -e "$data/images/README.md" ]; then
  "$python" -m jaxlab.datasets --name 3x3-v1 --format huggingface --pixels 64 --out "$data/images"
fi

for client in "$@"; do
  case $client in
    sb3)
      if "$python" -c "import stable_baselines3" 2> /dev/null; then
        "$python" scripts/clients/sb3_ppo.py
      else
        echo "stable-baselines3 is not installed: pip install stable-baselines3 (skipped)"
      fi
      ;;
    imitation)
      environment imitation imitation==1.0.1
      "$clients/imitation/bin/python" scripts/clients/imitation_bc.py "$data/npz/train.npz"
      ;;
    il-datasets)
      environment il-datasets il-datasets==1.0.0 gym tensorboard-wrapper tensorboard tabulate
      HF_HUB_OFFLINE=1 HF_HOME="$clients/cache" \
        "$clients/il-datasets/bin/python" scripts/clients/il_datasets_open.py "$data/npz/train.npz" "$data/images"
      ;;
    *)
      echo "clients are sb3, imitation and il-datasets, got: $client" >&2
      exit 2
      ;;
  esac
done
