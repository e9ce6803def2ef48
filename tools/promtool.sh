#!/bin/sh
# Prints the path of promtool: the one in PATH, else Debian's, unpacked into the
# user's cache folder. Nothing is installed and no service is started.
set -eu

if found=$(command -v promtool); then
	echo "$found"
	exit
fi
bin=${XDG_CACHE_HOME:-$HOME/.cache}/driftd/promtool
if [ ! -x "$bin/usr/bin/promtool" ]; then
	if ! command -v apt-get >/dev/null; then
		echo "tools/promtool.sh: promtool is not in PATH; install Prometheus (it comes with it)" >&2
		exit 1
	fi
	echo "fetching promtool from Debian's packages into $bin (once)" >&2
	mkdir -p "$bin"
	cd "$bin"
	apt-get -qq download prometheus >&2 || { apt-get -qq update >&2 && apt-get -qq download prometheus >&2; }
	dpkg -x prometheus_*.deb .
	rm -f prometheus_*.deb
fi
echo "$bin/usr/bin/promtool"
