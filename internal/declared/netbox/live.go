package netbox

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A live is a guest as the Proxmox collector reads it.
type live struct {
	model.Value

	container bool
	// named is the field that holds its name, mac the one of a device that
	// holds the address.
	named, mac string
}

func read(v model.Value) live {
	for _, field := range []string{"rootfs", "hostname", "unprivileged", "swap"} {
		if _, ok := v.Get(field); ok {
			return live{v, true, "hostname", "hwaddr"}
		}
	}
	return live{v, false, "name", "macaddr"}
}

// status tells whether the guest runs. A template never does.
func (g live) status(untold sight) sight {
	words := map[string]string{"running": active, "stopped": offline}
	word := words[g.At("status").Str()]
	if word == "" || g.At("template").Text() == "true" {
		return untold
	}
	return sight{model.StringOf(word), "status"}
}

// node tells where the guest lies. NetBox may know the host by its full name.
func (g live) node(untold sight) sight {
	node := g.At("node")
	if node.Str() == "" {
		return untold
	}
	if strings.EqualFold(short(untold.value.Str()), short(node.Str())) {
		return sight{untold.value, "node"}
	}
	return sight{node, "node"}
}

// short is the name of a host without its domain.
func short(host string) string {
	name, _, _ := strings.Cut(host, ".")
	return name
}

// vcpus tells how many processors the guest has: those that are plugged, or
// cores × sockets. Part of one can only be a limit, and a container without
// cores has all of the host's, unless it is limited.
func (g live) vcpus(untold sight) sight {
	cores, limit := g.At("cores"), g.At("cpulimit")
	whole := !strings.Contains(untold.value.Text(), ".")
	switch {
	case isAmount(limit) && (!whole || g.container && !isAmount(cores)):
		return sight{limit, "cpulimit"}
	case !whole, g.container && !isAmount(cores):
		return untold
	case g.container:
		return sight{cores, "cores"}
	case isAmount(g.At("vcpus")):
		return sight{g.At("vcpus"), "vcpus"}
	}
	return sight{model.IntOf(orOne(cores) * g.sockets()), "cores"}
}

// sockets tells how many processors the guest has that have cores.
func (g live) sockets() int64 {
	sockets := g.At("sockets")
	if sockets.IsNull() {
		sockets = g.At("smp")
	}
	return orOne(sockets)
}

// declaresCPUs returns what the field that tells the processors would hold for
// that many of them: cores are counted for each socket.
func (g live) declaresCPUs(v model.Value) (means model.Value, known bool) {
	total := ratOf(v)
	switch seen := g.vcpus(sight{value: v}); {
	case total == nil || seen.path == "":
		return model.Value{}, false
	case seen.path != "cores" || g.container:
		return v, true
	}
	cores := new(big.Rat).Quo(total, big.NewRat(g.sockets(), 1))
	if !cores.IsInt() {
		// No number of cores makes that many.
		return model.StringOf(cores.RatString()), true
	}
	return model.IntOf(cores.Num().Int64()), true
}

// orOne returns a small number, or 1 where there is none.
func orOne(v model.Value) int64 {
	n, err := strconv.ParseInt(v.Text(), 10, 31)
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// memory tells the guest's memory in MiB, of which Proxmox takes 512 where it is
// told nothing.
func (g live) memory(untold sight) sight {
	held, path := g.At("memory"), "memory"
	if current, ok := held.Get("current"); ok {
		held, path = current, "memory.current"
	}
	switch held.Kind() {
	case model.Number:
		return sight{held, path}
	case model.Null:
		return sight{model.IntOf(512), path}
	}
	return untold
}

// numbered returns the number of a field that has the prefix ("net12"), or -1.
func numbered(field, prefix string) int {
	digits, ok := strings.CutPrefix(field, prefix)
	if !ok || digits == "" || len(digits) > 3 || strings.Trim(digits, "0123456789") != "" {
		return -1
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}

// ratOf returns the number that a value holds, or nil.
func ratOf(v model.Value) *big.Rat {
	if v.Kind() != model.Number {
		return nil
	}
	n, ok := new(big.Rat).SetString(v.Text())
	if !ok {
		return nil
	}
	return n
}
