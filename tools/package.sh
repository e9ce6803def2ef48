#!/bin/sh
# Builds the packages: .deb and .rpm, with what they are made of beside them
# (SBOM), and SHA256SUMS. The same commit gives the same bytes, wherever and
# whenever it is built.
#
# usage: tools/package.sh [OUT [ARCH…]]    ./dist, amd64 arm64
#
# VERSION, COMMIT and SOURCE_DATE_EPOCH, which git tells, may be given.
set -eu
cd "$(dirname "$0")/.."

go=${GO:-go}
out=${1:-dist}
[ $# = 0 ] || shift
[ $# != 0 ] || set -- amd64 arm64
umask 022
export LC_ALL=C TZ=UTC

# package_version makes of `git describe` what sorts rightly in both worlds:
# 1.2.3, 1.2.3~rc.1, 1.2.3+5.g1a2b3c4 after the tag, 0.0.0~git… before any.
package_version() {
	dirty=$([ -z "$(git status --porcelain --untracked-files=no)" ] || echo +dirty)
	if described=$(git describe --tags --long --match 'v[0-9]*' 2>/dev/null); then
		hash=${described##*-} rest=${described%-*}
		count=${rest##*-} tag=${rest%-*}
		version=$(echo "${tag#v}" | sed 's/-/~/; s/-/./g')
		[ "$count" = 0 ] || version=$version+$count.$hash
	else
		version=0.0.0~git$(git log -1 --date=format-local:%Y%m%d.%H%M%S --format=%cd).$(git rev-parse --short=7 HEAD)
	fi
	echo "$version$dirty"
}

VERSION=${VERSION:-$(package_version)}
COMMIT=${COMMIT:-$(git rev-parse HEAD)}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
MTIME=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
export SOURCE_DATE_EPOCH
nfpm=$(sh tools/build.sh nfpm)/nfpm
sbom=$(sh tools/build.sh sbom)/cyclonedx-gomod
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d "$out/.building.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# build ARCH FILE
build() {
	CGO_ENABLED=0 GOOS=linux GOARCH=$1 GOAMD64=v1 GOARM64=v8.0 GOFLAGS=-mod=readonly $go build -trimpath -buildvcs=false \
		-ldflags "-s -w -buildid= -X main.version=$VERSION -X main.commit=$COMMIT -X main.date=$MTIME" -o "$2" ./cmd/driftd
}

# list FILE prints what the program is made of, as CycloneDX says it: without
# the time of the listing, and the lister's own checksums.
list() {
	"$sbom" bin -json -noserial -std -licenses -assert-licenses -version "$VERSION" -output - "$1" |
		sed "s|\"timestamp\": \"[^\"]*\"|\"timestamp\": \"$MTIME\"|" |
		sed '/"tools": \[/,/"component": {/{/"hashes": \[/,/\],/d}'
}

# What every package holds, by a driftd that runs here.
native=$($go env GOHOSTARCH)
build "$native" "$work/native"
mkdir "$work/man"
"$work/native" man "$work/man" config.example.yaml
gzip -9n "$work"/man/*
gzip -9nc CHANGELOG.md >"$work/CHANGELOG.md.gz"
gzip -9nc >"$work/changelog.gz" <<END
driftd ($VERSION) unstable; urgency=medium

  * What changed is told in CHANGELOG.md.gz.

 -- The driftd authors <driftd@users.noreply.github.com>  $(date -R -d "@$SOURCE_DATE_EPOCH")
END
"$work/native" completion bash >"$work/driftd.bash"
"$work/native" completion zsh >"$work/_driftd"
"$work/native" completion fish >"$work/driftd.fish"

for arch in "$@"; do
	if [ "$arch" = "$native" ]; then cp "$work/native" "$work/driftd"; else build "$arch" "$work/driftd"; fi
	list "$work/driftd" >"$work/driftd.cdx.json"
	cp "$work/driftd.cdx.json" "$work/driftd_${VERSION}_linux_$arch.cdx.json"
	sed "s|\${ROOT}|$work|; s|\${ARCH}|$arch|; s|\${VERSION}|$VERSION|; s|\${MTIME}|$MTIME|" packaging/nfpm.yaml >"$work/nfpm.yaml"
	for packager in deb rpm; do
		"$nfpm" package --config "$work/nfpm.yaml" --packager $packager --target "$work" >&2
	done
done
cd "$work"
rm -r native nfpm.yaml man changelog.gz CHANGELOG.md.gz driftd.bash _driftd driftd.fish driftd driftd.cdx.json
sha256sum -- * >SHA256SUMS
find "$out" -maxdepth 1 -type f \( -name 'driftd[_-]*' -o -name SHA256SUMS \) -delete
mv -- * "$out"
echo "packages of driftd $VERSION in $out:" >&2
cat "$out/SHA256SUMS" >&2
