#!/usr/bin/env bash
# Builds what a release consists of into dist/: one static binary per platform,
# its bill of materials (CycloneDX), the licences of what is linked into them, and the
# checksums of all. The same
# commit, Go version and path of the module cache give the same bytes: assembly of
# one dependency carries that path in spite of -trimpath.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/version.sh

platforms=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64)
version=$(version)
flags="-s -w $(stamp)"
rm -rf dist
mkdir dist

for platform in "${platforms[@]}"; do
	os=${platform%/*} arch=${platform#*/}
	file=dist/deed_${version}_${os}_$arch
	[ "$os" != windows ] || file=$file.exe
	echo "deed: building $file"
	CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -buildvcs=false -ldflags "$flags" -o "$file" ./cmd/deed
done

for file in dist/deed_*; do
	go run ./scripts/sbom "$file" "$version" >"$file.cdx.json"
done

echo "deed: collecting licences"
scripts/licenses.sh "${platforms[@]}" >dist/THIRD_PARTY_LICENSES
cp LICENSE NOTICE dist/

own=dist/deed_${version}_$(go env GOOS)_$(go env GOARCH)$(go env GOEXE)
if [ -x "$own" ]; then # the one that runs here shows that the stamp is right
	"$own" version
	"$own" version | grep -qF "$version" || { echo "deed: $own does not say that it is $version" >&2; exit 1; }
fi
(cd dist && sha256sum -- * >SHA256SUMS)
echo "deed: dist/ holds $version; check a download with: sha256sum --check --ignore-missing SHA256SUMS"
