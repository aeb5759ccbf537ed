#!/usr/bin/env bash
# Installs the Python client libraries of this folder, as locked by their hashes, into .venv beside it.
set -euo pipefail
cd "$(dirname "$0")"

want=$(sha256sum requirements.txt)
if [ "$(cat .venv/installed 2>/dev/null)" = "$want" ]; then exit 0; fi
rm -rf .venv
python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements.txt
echo "$want" > .venv/installed
