#!/usr/bin/env bash
# Builds the OCI image into dist/: the static binary, certificates and a numeric user,
# from scratch. With buildah it becomes dist/deed_VERSION_oci.tar; the folder that it is
# built from stays in dist/rootfs, and runs in a chroot, too.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/version.sh

version=$(version) arch=${GOARCH:-$(go env GOARCH)}
rm -rf dist/rootfs
mkdir -p dist/rootfs/{etc/ssl/certs,tmp,data}
chmod 1777 dist/rootfs/tmp
chmod 777 dist/rootfs/data # a volume replaces it
CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -buildvcs=false -ldflags "-s -w $(stamp)" -o dist/rootfs/deed ./cmd/deed
cp /etc/ssl/certs/ca-certificates.crt dist/rootfs/etc/ssl/certs/
echo 'deed:x:65532:65532::/data:/deed' >dist/rootfs/etc/passwd
echo 'deed:x:65532:' >dist/rootfs/etc/group
cp LICENSE NOTICE dist/rootfs/

if ! command -v buildah >/dev/null; then
	echo "deed: dist/rootfs is the content of the image; install buildah for the image itself" >&2
	exit 0
fi
archive=dist/deed_${version}_oci.tar image=deed:$(image_tag)
rm -f "$archive"
buildah --storage-driver vfs bud --isolation chroot --format oci --arch "$arch" --timestamp 0 --tag "$image" --file deploy/Containerfile dist
buildah --storage-driver vfs push "$image" "oci-archive:$archive:$image"
ls -l "$archive"
echo "deed: podman load --input $archive makes it localhost/$image"
