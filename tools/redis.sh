#!/bin/sh
# Prints the path of redis-server: the one in PATH, otherwise Debian's, which is
# the program redis-check-rdb with another name. If there is none, it installs
# Debian's package of the tools, which has no service; that needs root.
set -eu

if command -v redis-server; then
	exit
fi
if ! command -v redis-check-rdb >/dev/null; then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "tools/redis.sh: no redis-server in PATH; install Redis" >&2
		exit 1
	fi
	echo "installing Redis from Debian's packages (once)" >&2
	export DEBIAN_FRONTEND=noninteractive
	{ apt-get -qq update && apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends redis-tools; } >&2
fi
dir=${XDG_CACHE_HOME:-$HOME/.cache}/driftd/redis
mkdir -p "$dir"
ln -sf "$(command -v redis-check-rdb)" "$dir/redis-server"
echo "$dir/redis-server"
