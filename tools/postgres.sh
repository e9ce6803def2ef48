#!/bin/sh
# Prints the folder of PostgreSQL's programs: the one in PATH, otherwise
# Debian's. If there is none, it installs Debian's package without a cluster and
# a service, which needs root.
set -eu

find_programs() {
	for initdb in "$(command -v initdb)" /usr/lib/postgresql/*/bin/initdb; do
		if [ -x "$initdb" ]; then
			dirname "$(readlink -f "$initdb")"
			return
		fi
	done
	return 1
}

if find_programs; then
	exit
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "tools/postgres.sh: no initdb in PATH; install PostgreSQL's server" >&2
	exit 1
fi
echo "installing PostgreSQL from Debian's packages (once)" >&2
mkdir -p /etc/postgresql-common
echo 'create_main_cluster = false' >>/etc/postgresql-common/createcluster.conf
export DEBIAN_FRONTEND=noninteractive
{ apt-get -qq update && apt-get -qq install -y --no-install-recommends postgresql; } >&2
find_programs
