package proxmox

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/collectortest"
	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	weak := corner()
	weak.Rights = nil
	collectortest.Run(t, collectortest.Subject{
		Open: func(t *testing.T, s collectortest.Settings) collectors.Collector {
			t.Helper()
			config := testConfig(t, s.URL)
			config.Timeout, config.MaxBody, config.GuestAgent = s.Timeout, s.MaxBody, true
			config.ExcludeKinds = []string{"mapping_*", "sdn_[cid]*", "notification_*", "acme_*", "node_[dht]*", "backup_job"}
			return testCluster(t, config)
		},
		Estate: func(order *rand.Rand) http.Handler { return newServer(corner(), order) },
		Weak:   newServer(weak, rand.New(rand.NewPCG(3, 3))),
	})
}

// corner returns a part of the lab: the contract reads it once for each fault and path.
func corner() pvetest.Cluster {
	c := pvetest.Lab()
	c.Nodes = c.Nodes[:2]
	c.Guests = slices.DeleteFunc(c.Guests, func(g pvetest.Guest) bool { return g.ID != 401 && g.ID != 410 })
	return c
}
