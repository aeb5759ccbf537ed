#!/usr/bin/env bash
# Installs the Python client libraries of this folder, as locked by their hashes, into .venv beside it; those of which two
# major lines are in use have the newer one in an environment of its own, .venv/next.
set -euo pipefail
cd "$(dirname "$0")"

want=$(cat requirements.txt next.txt | sha256sum)
if [ "$(cat .venv/installed 2>/dev/null)" = "$want" ]; then exit 0; fi
rm -rf .venv
install() {
  python3 -m venv "$2"
  "$2/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$1"
}
install requirements.txt .venv
install next.txt .venv/next
echo "$want" > .venv/installed
