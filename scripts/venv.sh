# Sourced by the other scripts: makes .venv and installs the package with the extras named in
# $1 (as in `. scripts/venv.sh train,viz`). A second run is quick: each set of extras leaves a
# stamp that names what it was made from.
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ ! -x .venv/bin/python ]; then
  python=
  for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      python=$candidate
      break
    fi
  done
  if [ -z "$python" ]; then
    echo "jaxlab needs Python 3.11 or newer: none was found on the PATH" >&2
    exit 1
  fi
  echo "Making .venv with $("$python" --version)"
  "$python" -m venv .venv
fi

stamp=.venv/installed-$1
if ! sha256sum --check --status "$stamp" 2>/dev/null; then
  echo "Installing jaxlab[$1] into .venv"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[$1]"
  sha256sum pyproject.toml >"$stamp"
fi
