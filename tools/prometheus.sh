#!/bin/sh
# Prints the folder of prometheus, promtool and alertmanager: the one in PATH,
# otherwise Debian's packages, unpacked into the user's cache folder. It starts
# no service, and installs nothing except, as root, Alertmanager's templates.
set -eu

complete() {
	[ -x "$1/prometheus" ] && [ -x "$1/promtool" ] && [ -x "$1/alertmanager" ]
}

fetch() {
	apt-get -qq download prometheus prometheus-alertmanager >&2
}

if found=$(command -v prometheus) && complete "$(dirname "$found")"; then
	dirname "$found"
	exit
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/driftd
dir=$cache/prometheus
if ! complete "$dir/usr/bin"; then
	if ! command -v apt-get >/dev/null; then
		echo "tools/prometheus.sh: no folder of PATH holds prometheus, promtool and alertmanager; install Prometheus and Alertmanager" >&2
		exit 1
	fi
	echo "fetching Prometheus and Alertmanager from Debian's packages into $dir (once)" >&2
	mkdir -p "$cache"
	making=$(mktemp -d "$cache/prometheus-making.XXXXXX")
	trap 'rm -rf "$making"' EXIT
	trap 'exit 1' HUP INT TERM
	cd "$making"
	fetch || { apt-get -qq update >&2 && fetch; }
	for package in *.deb; do
		dpkg -x "$package" unpacked
	done
	# Debian's Alertmanager reads its templates from /usr/share. If they are not
	# installed, a wrapper mounts the unpacked folder there, for this process only.
	cat >unpacked/usr/bin/alertmanager <<-'END'
		#!/bin/sh
		usr=$(dirname "$0")/..
		[ ! -e /usr/share/prometheus/alertmanager/default.tmpl ] || exec "$usr/bin/prometheus-alertmanager" "$@"
		exec unshare --map-root-user --mount sh -c 'mount --bind "$0/share" /usr/share && exec "$0/bin/prometheus-alertmanager" "$@"' "$usr" "$@"
	END
	chmod +x unpacked/usr/bin/alertmanager
	# Of two concurrent runs the first result is kept, unless it is older and
	# incomplete.
	complete "$dir/usr/bin" || { rm -rf "$dir" && mv unpacked "$dir"; }
fi
templates=/usr/share/prometheus/alertmanager
if [ "$(id -u)" = 0 ] && [ ! -e "$templates" ]; then
	# Root in a container may be unable to create namespaces.
	mkdir -p "$(dirname "$templates")"
	cp -R "$dir$templates" "$templates"
fi
echo "$dir/usr/bin"
