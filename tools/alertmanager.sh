#!/bin/sh
# Prints the path of alertmanager: the one in PATH, else that of
# tools/alertmanager, built once into the user's cache folder. Its module leaves
# the web pages out, which its program wants to embed: they are replaced by an
# empty one, in a copy.
set -eu

if found=$(command -v alertmanager); then
	echo "$found"
	exit
fi
cd "$(dirname "$0")/alertmanager"
module=github.com/prometheus/alertmanager
version=$(go list -m -f '{{.Version}}' $module)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/driftd
bin=$cache/alertmanager-$version-$(go env GOVERSION)
if [ ! -d "$bin" ]; then
	echo "building alertmanager $version into $bin (once; needs the Go module proxy)" >&2
	mkdir -p "$cache"
	making=$(mktemp -d "$cache/alertmanager-making.XXXXXX")
	trap 'chmod -R u+w "$making"; rm -rf "$making"' EXIT
	trap 'exit 1' HUP INT TERM
	go mod download $module
	cp -R "$(go list -m -f '{{.Dir}}' $module)" "$making/source"
	chmod -R u+w "$making/source"
	mkdir "$making/source/ui/app/dist" "$making/bin"
	: >"$making/source/ui/app/dist/index.html"
	(cd "$making/source" && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$making/bin/alertmanager" ./cmd/alertmanager)
	# Whoever finishes second keeps the first one's work.
	[ -d "$bin" ] || mv "$making/bin" "$bin"
fi
echo "$bin/alertmanager"
