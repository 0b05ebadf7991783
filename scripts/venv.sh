# Sourced by the other scripts: makes .venv and installs the package with the extras named in
# $1 (as in `. scripts/venv.sh train,viz`). A second run is quick: each set of extras leaves a
# stamp that names what it was made from.
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ ! -x .venv/bin/python ]; then
  python=$(command -v python3.13 || command -v python3.12 || command -v python3.11 || command -v python3)
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "jaxlab needs Python 3.11 or newer, found $("$python" --version)" >&2
    exit 1
  }
  echo "Making .venv with $("$python" --version)"
  "$python" -m venv .venv
fi

stamp=.venv/installed-$1
if ! sha256sum --check --status "$stamp" 2>/dev/null; then
  echo "Installing jaxlab[$1] into .venv"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[$1]"
  sha256sum pyproject.toml >"$stamp"
fi
