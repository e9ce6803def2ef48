package netbox

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/model"
)

func TestOneRequestPerPage(t *testing.T) {
	t.Parallel()
	const n = 2500
	for version, want := range map[string]int{"3.7.8": 3, "4.5.9": 3, "4.6.8": 3} {
		server := newServer(netboxtest.Big(version, n))
		s := collect(t, server)
		for _, kind := range []string{"virtualization.virtualmachine", "virtualization.vminterface", "ipam.ipaddress"} {
			count := 0
			for i := range s.Resources {
				if s.Resources[i].Kind == Type+"/"+kind {
					count++
				}
			}
			if c := covered(t, s, kind); count != n || !c.Complete {
				t.Errorf("%s: %d of %s, %+v", version, count, kind, c)
			}
		}
		for _, path := range []string{"virtualization/virtual-machines", "virtualization/interfaces", "ipam/ip-addresses"} {
			if got := len(server.Requests(path)); got != want {
				t.Errorf("%s: %d requests for %s, want %d", version, got, path, want)
			}
		}
	}
}

// BenchmarkCollect reads 20,000 virtual machines with an interface, an address
// and a MAC address each, at 5 ms an answer.
func BenchmarkCollect(b *testing.B) {
	for _, version := range []string{"3.7.8", "4.6.8"} {
		b.Run(version, func(b *testing.B) {
			server := newServer(netboxtest.Big(version, 20_000))
			server.Delay = 5 * time.Millisecond
			listening := httptest.NewServer(server)
			defer listening.Close()
			c, err := open(collectors.Env{Name: "netbox", Sealer: model.NewSealer([]byte("key of the tests"))}, testConfig(b, listening.URL))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				s, err := c.Collect(b.Context())
				if err != nil || len(s.Resources) < 60_000 {
					b.Fatalf("%d resources, error %v", len(s.Resources), err)
				}
			}
			b.ReportMetric(float64(len(server.Requests("")))/float64(b.N), "requests/op")
		})
	}
}
