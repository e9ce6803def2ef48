#!/bin/sh
# Prints the path of chromium in PATH. If there is none, it installs Debian's
# package and a font, which needs root.
set -eu

found() {
	command -v chromium || command -v chromium-browser || command -v google-chrome
}

fetch() {
	DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends chromium fonts-dejavu-core >&2
}

if found; then
	exit
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "tools/chromium.sh: no folder of PATH holds chromium; install Chromium or Google Chrome (Debian: apt-get install chromium fonts-dejavu-core)" >&2
	exit 1
fi
echo "installing Chromium from Debian's packages (once)" >&2
fetch || { apt-get -qq update >&2 && fetch; }
found
