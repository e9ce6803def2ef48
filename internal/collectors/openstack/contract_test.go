package openstack

import (
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/collectortest"
	"github.com/driftd/driftd/internal/collectors/openstack/openstacktest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	// Policies may hide all objects from a weak role, with status 200.
	weak := openstacktest.Small()
	weak.Accounts[0].Roles = []string{"billing"}
	weak.Hides = func(string, openstacktest.Account) bool { return true }
	collectortest.Run(t, collectortest.Subject{
		Open: func(t *testing.T, s collectortest.Settings) collectors.Collector {
			t.Helper()
			config := testConfig(t, s.URL+"/v3", "admin")
			config.Timeout, config.MaxBody, config.AllProjects = s.Timeout, s.MaxBody, true
			config.PageSize, config.Actions = 3, 1
			return testCloud(t, config)
		},
		Estate: func(order *rand.Rand) http.Handler { return openstacktest.New(openstacktest.Small(), order) },
		Weak:   openstacktest.New(weak, rand.New(rand.NewPCG(3, 3))),
		Allow:  []string{"POST /v3/auth/tokens"},
	})
}
