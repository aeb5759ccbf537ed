#!/usr/bin/env bash
# Builds the servers of this folder, as locked by their go.sum, once for each state of the lock files.
# Prints nothing when they are there already; the tests say what they miss when one could not be built.
set -euo pipefail
cd "$(dirname "$0")"
cache=${PORTICO_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/portico-e2e}

build() {
  local name=$1 package=$2 program
  program=$cache/$name-$(cat "$name/go.mod" "$name/go.sum" | sha256sum | cut -c1-16)
  [ -x "$program" ] && return 0
  mkdir -p "$cache"
  echo "builds $name"
  # Under another name until it is whole, so that a build that was broken off is never found.
  nice go build -C "$name" -mod=readonly -trimpath -o "$program.$$" "$package"
  mv "$program.$$" "$program"
}

command -v go >/dev/null || { echo 'no Go here: no servers are built'; exit 0; }
build ratelimit github.com/envoyproxy/ratelimit/src/service_cmd
build opa github.com/open-policy-agent/opa-envoy-plugin/cmd/opa-envoy-plugin
