#!/bin/sh
# Prints a folder with the programs and pipelines for the OpenStack tests that
# are only in Debian's packages with services. Those packages are unpacked once,
# into the user's cache folder, and not installed, so that no OpenStack service
# starts. The folder's name is a hash of the versions. The other packages are
# installed, which needs root.
set -eu

packages="python3-keystone python3-neutron python3-nova python3-placement python3-glance python3-cinder \
python3-keystonemiddleware python3-openstackclient python3-pymysql uwsgi-plugin-python3 \
mariadb-server-core mariadb-client-core rabbitmq-server"
unpacked="neutron-common neutron-server nova-common nova-conductor nova-scheduler nova-compute \
glance-common glance-api cinder-common cinder-scheduler cinder-volume"

versions() { dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n' $packages 2>/dev/null; }

# install installs packages without starting their services: it replaces
# policy-rc.d, which Debian's package scripts run first, during the installation.
install() {
	policy=/usr/sbin/policy-rc.d
	if [ ! -e "$policy" ]; then
		trap 'rm -f "$policy"' EXIT
		trap 'exit 1' HUP INT TERM
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod 755 "$policy"
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq update
	apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $packages
}

if [ "$(versions | grep -c ' installed$')" != "$(echo $packages | wc -w)" ]; then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "tools/openstack.sh: install the packages of Debian 12: $packages" >&2
		exit 1
	fi
	echo "installing OpenStack from Debian's packages (once)" >&2
	(install) >&2
fi

cache=${XDG_CACHE_HOME:-$HOME/.cache}/driftd
key=$({ cat "$0" && versions; } | git hash-object --stdin | cut -c1-16)
dir=$cache/openstack-$key
if [ ! -d "$dir" ]; then
	mkdir -p "$cache"
	making=$(mktemp -d "$cache/openstack-making.XXXXXX")
	trap 'rm -rf "$making"' EXIT
	trap 'exit 1' HUP INT TERM
	(cd "$making" && apt-get -qq -o APT::Sandbox::User=root download $unpacked) >&2
	for package in "$making"/*.deb; do
		dpkg -x "$package" "$making/files"
	done
	[ -d "$dir" ] || mv "$making/files" "$dir"
fi
echo "$dir"
