package normalize

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// maxAddresses is the largest number of addresses of a guest that are kept. The guest's agent
// can send any number.
const maxAddresses = 256

// Addresses returns the IP addresses of a running guest, from the answer of its agent
// (qemu/I/agent/network-get-interfaces) or its node (lxc/I/interfaces): texts such as
// "10.0.0.5/24", sorted, without duplicates. It ignores loopback and link-local addresses, and
// interfaces without one of the MAC addresses, which are in upper case: interfaces that the
// guest itself creates, such as bridges for containers, change all the time. ok is false if
// the answer has no list of interfaces.
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

// addressesOf returns the addresses of one interface: those of a list, or, for a container in
// an older version, those of "inet" and "inet6".
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

// global returns an address with its prefix length in canonical form. It returns "" for an
// invalid address, and for one that is not reachable from other hosts. Without a length, the
// prefix is the whole address.
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
