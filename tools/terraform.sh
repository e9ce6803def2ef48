#!/bin/sh
# Builds the programs for the Terraform tests once and prints their folder: tofu,
# versitygw, and providers/, a mirror that serves the providers under the default
# registry of both tools.
set -eu
cd "$(dirname "$0")"

tofu=$(sh build.sh tofu)/tofu
versitygw=$(sh build.sh versitygw)/versitygw
lab=$(sh build.sh ../test/provider)/provider
proxmox=$(sh build.sh proxmox-provider)/terraform-provider-proxmox
local=$(sh build.sh local-provider)/terraform-provider-local
netbox=$(sh build.sh netbox-provider)/terraform-provider-netbox
openstack=$(sh build.sh openstack-provider)/terraform-provider-openstack

# place NAMESPACE NAME VERSION PROGRAM puts a provider into the mirror.
place() {
	for host in registry.terraform.io registry.opentofu.org; do
		package=$making/providers/$host/$1/$2/$3/$platform
		mkdir -p "$package"
		ln -s "$4" "$package/terraform-provider-$2_v$3"
	done
}

platform=$(go env GOOS)_$(go env GOARCH)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/driftd
key=$(cat terraform.sh - <<-END | git hash-object --stdin | cut -c1-16
	$tofu $versitygw $lab $proxmox $local $netbox $openstack
END
)
dir=$cache/terraform-$key
if [ ! -d "$dir" ]; then
	making=$(mktemp -d "$cache/terraform-making.XXXXXX")
	trap 'rm -rf "$making"' EXIT
	ln -s "$tofu" "$versitygw" "$making"
	place driftd lab 1.0.0 "$lab"
	place bpg proxmox 0.112.0 "$proxmox"
	place hashicorp local 1.4.1 "$local"
	place e-breuninger netbox 1.6.7 "$netbox"
	place terraform-provider-openstack openstack 1.15.0 "$openstack"
	# The address of a provider without a source in the configuration.
	place hashicorp openstack 1.15.0 "$openstack"
	[ -d "$dir" ] || mv "$making" "$dir"
fi
echo "$dir"
