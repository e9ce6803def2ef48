#!/bin/sh
# Builds the programs of a nested module once, into the user's cache folder,
# and prints the folder. Its name is a hash of all inputs of the build, so that
# a changed version or flag builds again.
#
# usage: tools/build.sh MODULE, a folder next to this script
set -eu

module=${1:?usage: tools/build.sh MODULE, a folder next to this script}
cd "$(dirname "$0")/$module"
name=${module##*/}

flags="-trimpath"
ldflags="-s -w"
case $name in
kube)
	# kubectl and the API server need a version to work together.
	version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
	major=${version#v} minor=${version#v*.}
	stamp=k8s.io/component-base/version
	ldflags="$ldflags -X $stamp.gitVersion=$version -X $stamp.gitMajor=${major%%.*} -X $stamp.gitMinor=${minor%%.*}"
	;;
tofu)
	# Without it the program reports a development version.
	ldflags="$ldflags -X github.com/opentofu/opentofu/version.dev=no"
	;;
vale)
	# Its Go parser is C code.
	cgo=1
	;;
esac

export CGO_ENABLED=${cgo:-0}
sources=$(find . -name '*.go' | sort)
key=$({ cat go.mod go.sum $sources && echo "$flags $ldflags" && go env GOVERSION GOOS GOARCH; } | git hash-object --stdin | cut -c1-16)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/driftd
bin=$cache/$name-$key

if [ ! -d "$bin" ]; then
	echo "building $name tools into $bin (once; needs the Go module proxy)" >&2
	mkdir -p "$cache"
	building=$(mktemp -d "$cache/$name-building.XXXXXX")
	trap 'rm -rf "$building"' EXIT
	trap 'exit 1' HUP INT TERM
	programs=$(go list tool)
	for pkg in $programs; do
		program=${pkg##*/}
		case $pkg in
		go.etcd.io/etcd/server/v3) program=etcd ;;
		github.com/argoproj/argo-cd/v2/cmd) program=argocd ;;
		esac
		go build $flags -ldflags "$ldflags" -o "$building/$program" "$pkg"
	done
	if [ "$name" = argocd ]; then
		cp "$(go list -m -f '{{.Dir}}' github.com/argoproj/argo-cd/v2)"/manifests/crds/app*-crd.yaml "$building/"
	fi
	# Of two concurrent builds the first result is kept.
	[ -d "$bin" ] || mv "$building" "$bin"
fi
echo "$bin"
