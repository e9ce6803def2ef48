package normalize

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// maxAddresses is how many addresses of a guest are kept. What a guest's agent
// says is the guest's own word, and may be anything.
const maxAddresses = 256

// Addresses returns the IP addresses that a running guest has, from what its
// agent answers (qemu/I/agent/network-get-interfaces) or its node
// (lxc/I/interfaces): texts such as "10.0.0.5/24", sorted, each once. Only
// interfaces with one of the MAC addresses count, which are upper case: what a
// guest makes for itself, such as bridges for its own containers, comes and
// goes. Nor do loopback and link-local addresses. ok is false for an answer
// that lists no interfaces.
func Addresses(answer model.Value, macs []string) (addresses model.Value, ok bool) {
	interfaces := answer
	if inner, wrapped := answer.Get("result"); wrapped {
		interfaces = inner
	}
	if interfaces.Kind() != model.List {
		return model.Value{}, false
	}
	var texts []string
	for _, i := range interfaces.Items() {
		mac := cmp.Or(i.At("hardware-address").Text(), i.At("hwaddr").Text())
		if slices.Contains(macs, strings.ToUpper(mac)) {
			texts = append(texts, addressesOf(i)...)
		}
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	items := make([]model.Value, min(len(texts), maxAddresses))
	for n := range items {
		items[n] = model.StringOf(texts[n])
	}
	return model.ListOf(items...), true
}

// addressesOf returns the addresses of one interface: from a list, or, where an
// older version speaks of a container, from "inet" and "inet6".
func addressesOf(i model.Value) []string {
	var texts []string
	add := func(address, length string) {
		if text := global(address, length); text != "" {
			texts = append(texts, text)
		}
	}
	for _, a := range i.At("ip-addresses").Items() {
		add(a.At("ip-address").Text(), a.At("prefix").Text())
	}
	for _, key := range []string{"inet", "inet6"} {
		for part := range strings.FieldsFuncSeq(i.At(key).Text(), isSeparator) {
			address, length, _ := strings.Cut(part, "/")
			add(address, length)
		}
	}
	return texts
}

// global returns an address with the length of its network in canonical form,
// or "" for one that others cannot reach, and for what is none. Without a
// length it is a network of its own.
func global(address, length string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return ""
	}
	a = a.Unmap().WithZone("")
	if a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
		return ""
	}
	if p, err := netip.ParsePrefix(a.String() + "/" + length); err == nil {
		return p.String()
	}
	return netip.PrefixFrom(a, a.BitLen()).String()
}
