package netbox

import (
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/collectortest"
	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	collectortest.Run(t, collectortest.Subject{
		Open: func(t *testing.T, s collectortest.Settings) collectors.Collector {
			t.Helper()
			config := testConfig(t, s.URL)
			config.Timeout, config.MaxBody = s.Timeout, s.MaxBody
			// The contract reads all lists once for each fault and path.
			config.ExcludeKinds = []string{"circuits.*", "core.*", "dcim.*", "ipam.[a-hj-z]*", "ipam.iprange", "tenancy.*", "users.[a-np-z]*", "users.owner*",
				"vpn.*", "wireless.*", "extras.[d-s]*", "extras.co*", "extras.customl*", "extras.customfield?*", "extras.webhook", "virtualization.cluster?*", "virtualization.virtuald*", "virtualization.virtualmachinet*"}
			return testInventory(t, config)
		},
		Estate: func(order *rand.Rand) http.Handler { return netboxtest.New(netboxtest.Small(), order) },
		Weak:   netboxtest.New(netboxtest.Weak(), rand.New(rand.NewPCG(3, 3))),
	})
}
