#!/bin/sh
# Prints the folder that holds prometheus and promtool: that of PATH, else
# Debian's, unpacked into the user's cache folder. Nothing is installed and no
# service is started.
set -eu

if found=$(command -v prometheus) && [ -x "$(dirname "$found")/promtool" ]; then
	dirname "$found"
	exit
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/driftd
dir=$cache/prometheus
if [ ! -d "$dir" ]; then
	if ! command -v apt-get >/dev/null; then
		echo "tools/prometheus.sh: prometheus and promtool are not in PATH; install Prometheus" >&2
		exit 1
	fi
	echo "fetching Prometheus from Debian's packages into $dir (once)" >&2
	mkdir -p "$cache"
	making=$(mktemp -d "$cache/prometheus-making.XXXXXX")
	trap 'rm -rf "$making"' EXIT
	cd "$making"
	apt-get -qq download prometheus >&2 || { apt-get -qq update >&2 && apt-get -qq download prometheus >&2; }
	dpkg -x prometheus_*.deb unpacked
	[ -d "$dir" ] || mv unpacked "$dir"
fi
echo "$dir/usr/bin"
