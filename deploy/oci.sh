#!/usr/bin/env bash
# Makes an OCI image archive of a program without a container engine: the Node that npm ci installed, the libraries it
# needs, and the built program; nothing else. Needs the checkout after npm ci, and tar, gzip and ldd.
#   deploy/oci.sh [gateway|controller] [file]     default: gateway, out/<name>-<version>.oci.tar
# Load the archive with skopeo, podman or docker.
set -euo pipefail
cd "$(dirname "$0")/.."

package=gateway
case "${1:-}" in gateway | controller) package=$1; shift ;; esac
case "$package" in
  gateway) name=portico command='"-f","/etc/portico/gateway.yaml"' state='"XDG_STATE_HOME=/var/lib",' ;;
  controller) name=portico-controller command='' state='' ;;
esac
case "$(uname -m)" in
  x86_64) arch=x64 platform=amd64 ;;
  aarch64) arch=arm64 platform=arm64 ;;
  *) echo "no image for $(uname -m)" >&2; exit 1 ;;
esac
node="node_modules/node-linux-$arch/bin/node"
version=$("$node" -p "require('./packages/$package/package.json').version")
file=${1:-out/$name-$version.oci.tar}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root="$work/root" image="$work/image"
mkdir -p "$root/opt/portico" "$root/usr/bin" "$root/etc/portico" "$image/blobs/sha256" "$(dirname "$file")"

# The program, and of the gateway the one module that is native code.
"$node" scripts/build.mjs "$package"
(cd "packages/$package" && cp -r bin dist package.json "$root/opt/portico/")
# In the tree the other programs refer to the runtime file of the gateway.
cp packages/gateway/bin/runtime.mjs "$root/opt/portico/bin/"
cp LICENSE "$root/opt/portico/"
"$node" scripts/package/sbom.mjs "$package" > "$root/opt/portico/sbom.cdx.json"
rm -f "$root"/opt/portico/bin/*.d.mts
if [ "$package" = gateway ]; then
  mkdir -p "$root/opt/portico/node_modules/@node-rs"
  cp -r node_modules/@node-rs/bcrypt "node_modules/@node-rs/bcrypt-linux-$arch-gnu" "$root/opt/portico/node_modules/@node-rs/"
fi

# The runtime without symbols for debuggers, with the libraries where its loader looks for them.
"$node" scripts/package/trim-elf.mjs "$node" "$root/usr/bin/node"
ldd "$node" | grep -oE '/[^ ]+' | while read -r library; do install -D "$library" "$root$library"; done

# Nobody in particular, without a shell; a place for files that come and go.
echo 'portico:x:65532:65532::/nonexistent:/sbin/nologin' > "$root/etc/passwd"
echo 'portico:x:65532:' > "$root/etc/group"
install -d -m 1777 "$root/tmp"
install -d -o 65532 -g 65532 "$root/var/lib/portico"

# Content-addressed files, as the image specification has them; equal inputs give equal bytes.
store() { # store FILE: moves it among the blobs and prints its digest and size
  local digest size
  digest=$(sha256sum "$1" | cut -d' ' -f1)
  size=$(stat -c %s "$1")
  mv "$1" "$image/blobs/sha256/$digest"
  echo "$digest $size"
}
tar --sort=name --mtime=@0 --numeric-owner -C "$root" -cf "$work/layer.tar" .
diff=$(sha256sum "$work/layer.tar" | cut -d' ' -f1)
gzip -n "$work/layer.tar"
read -r layer layer_size < <(store "$work/layer.tar.gz")
cat > "$work/config" <<JSON
{"architecture":"$platform","os":"linux","config":{"User":"65532:65532","Env":[$state"PATH=/usr/bin"],
"Entrypoint":["/usr/bin/node","/opt/portico/bin/$name.mjs"],"Cmd":[$command],"WorkingDir":"/etc/portico",
"Labels":{"org.opencontainers.image.title":"$name","org.opencontainers.image.version":"$version","org.opencontainers.image.licenses":"Apache-2.0"}},
"rootfs":{"type":"layers","diff_ids":["sha256:$diff"]}}
JSON
read -r config config_size < <(store "$work/config")
cat > "$work/manifest" <<JSON
{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",
"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:$config","size":$config_size},
"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:$layer","size":$layer_size}]}
JSON
read -r manifest manifest_size < <(store "$work/manifest")
echo '{"imageLayoutVersion":"1.0.0"}' > "$image/oci-layout"
cat > "$image/index.json" <<JSON
{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json",
"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:$manifest","size":$manifest_size,
"platform":{"architecture":"$platform","os":"linux"},"annotations":{"org.opencontainers.image.ref.name":"$name:$version"}}]}
JSON
tar --sort=name --mtime=@0 --numeric-owner --owner=0 --group=0 -C "$image" -cf "$file" .
echo "$file"
