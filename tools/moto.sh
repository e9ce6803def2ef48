#!/bin/sh
# Prints the path of moto_server, a program that simulates the APIs of AWS. Its
# packages are those of Debian 13, because Debian 12 has none: they are Python
# code only, and Debian 12's Python runs them. They are unpacked once, into the
# user's cache folder, and not installed. apt reads the lists of Debian 13 into
# the same folder, so that the machine's own lists stay as they are. As root, the
# script also installs the compiled modules that moto needs.
set -eu

suite=trixie
packages="moto boto3 botocore s3transfer responses werkzeug flask flask-cors xmltodict antlr4 jmespath dateutil \
requests urllib3 idna certifi jinja2 itsdangerous click blinker six joserfc jsonpath-ng docker graphql-core \
openapi-spec-validator pyparsing aws-xray-sdk multipart typing-extensions ply"
compiled="python3-cryptography python3-yaml python3-markupsafe python3-charset-normalizer"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
python=/usr/bin/python3

recipe=$(git hash-object --stdin <"$0" | cut -c1-16)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/driftd
dir=$cache/moto-$recipe

if [ "$(dpkg-query -W -f '${db:Status-Status}\n' $compiled 2>/dev/null | grep -cx installed)" != "$(echo $compiled | wc -w)" ]; then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "tools/moto.sh: install the packages of Debian 12: $compiled" >&2
		exit 1
	fi
	echo "installing Python modules from Debian's packages (once)" >&2
	export DEBIAN_FRONTEND=noninteractive
	{ apt-get -qq update && apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $compiled; } >&2
fi
if [ ! -d "$dir" ]; then
	echo "fetching moto from Debian's packages into $dir (once)" >&2
	mkdir -p "$cache"
	making=$(mktemp -d "$cache/moto-making.XXXXXX")
	trap 'rm -rf "$making"' EXIT
	trap 'exit 1' HUP INT TERM
	# The mirror is the one of the machine's own release.
	indexes() { apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' 'Origin: Debian' | sort -u | head -n 1; }
	mirror=$(indexes)
	[ -n "$mirror" ] || { apt-get -qq update >&2 && mirror=$(indexes); }
	mkdir -p "$making/lists/partial" "$making/archives/partial" "$making/files"
	echo "deb [signed-by=$keys] $mirror $suite main" >"$making/sources.list"
	cat >"$making/apt.conf" <<-END
		Dir::State::Lists "$making/lists";
		Dir::Cache "$making";
		Dir::Etc::SourceList "$making/sources.list";
		Dir::Etc::SourceParts "-";
		APT::Sandbox::User "";
		Acquire::Languages "none";
	END
	export APT_CONFIG="$making/apt.conf"
	apt-get -qq update >&2
	(cd "$making/archives" && apt-get -qq download $(printf "python3-%s/$suite " $packages)) >&2
	for package in "$making"/archives/*.deb; do
		dpkg -x "$package" "$making/files"
	done
	modules=usr/lib/python3/dist-packages
	mkdir "$making/files/bin"
	cat >"$making/files/bin/moto_server" <<-END
		#!/bin/sh
		# Images of others and their snapshots are no part of an account; the policies of AWS are.
		export MOTO_EC2_LOAD_DEFAULT_AMIS=false MOTO_IAM_LOAD_MANAGED_POLICIES=true
		PYTHONPATH=$dir/$modules exec $python -m moto.server "\$@"
	END
	chmod 755 "$making/files/bin/moto_server"
	[ -d "$dir" ] || mv "$making/files" "$dir"
fi
echo "$dir/bin/moto_server"
