#!/bin/sh
# Prints the folder of a minimal Debian 12 that boots: systemd and dbus, and
# nothing else. It is created once, in the user's cache folder; copy it before
# you boot it. As root, the script also installs debootstrap, systemd-nspawn, ip
# and rpm.
set -eu

suite=bookworm
recipe=$(git hash-object --stdin <"$0" | cut -c1-16)
dir=${XDG_CACHE_HOME:-$HOME/.cache}/driftd/debian-$suite-$recipe

if [ "$(id -u)" != 0 ]; then
	echo "tools/debian.sh: only root can make a system and boot it" >&2
	exit 1
fi
missing=
command -v debootstrap >/dev/null || missing="$missing debootstrap"
command -v systemd-nspawn >/dev/null || missing="$missing systemd-container"
command -v ip >/dev/null || missing="$missing iproute2"
command -v rpm >/dev/null || missing="$missing rpm"
if [ -n "$missing" ]; then
	if ! command -v apt-get >/dev/null; then
		echo "tools/debian.sh: install$missing" >&2
		exit 1
	fi
	echo "installing$missing from Debian's packages (once)" >&2
	export DEBIAN_FRONTEND=noninteractive
	{ apt-get -qq update && apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $missing; } >&2
fi
if [ ! -d "$dir" ]; then
	echo "making Debian's $suite in $dir (once)" >&2
	mkdir -p "$(dirname "$dir")"
	making=$(mktemp -d "$dir-making.XXXXXX")
	trap 'rm -rf "$making"' EXIT
	trap 'exit 1' HUP INT TERM
	debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus "$suite" "$making/root" >"$making/log" 2>&1 ||
		{ tail -n 20 "$making/log" >&2 && exit 1; }
	# Removes files that only enlarge copies, and units that only log.
	rm -rf "$making"/root/var/cache/apt/archives/*.deb "$making"/root/var/lib/apt/lists/*
	for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service; do
		ln -sf /dev/null "$making/root/etc/systemd/system/$unit"
	done
	[ -d "$dir" ] || mv "$making/root" "$dir"
fi
echo "$dir"
