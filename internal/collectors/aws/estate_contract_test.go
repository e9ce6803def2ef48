package aws

import (
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/collectortest"
)

// TestEstateContract runs the contract with the lists of some services, one of each protocol.
func TestEstateContract(t *testing.T) {
	t.Parallel()
	weak := wholeEstate(t)
	for key, answer := range weak.Answers {
		if key[:3] != "sts" {
			answer = recorded{http.StatusForbidden, `<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>`}
		}
		weak.Answers[key] = answer
	}
	collectortest.Run(t, collectortest.Subject{
		Open: func(t *testing.T, s collectortest.Settings) collectors.Collector {
			t.Helper()
			c := estateConfig(t, s.URL)
			c.Services, c.Timeout, c.MaxBody = []string{"iam", "sqs", "route53", "eks"}, s.Timeout, s.MaxBody
			return testInventory(t, c)
		},
		Estate: func(*rand.Rand) http.Handler { return wholeEstate(t) },
		Weak:   weak,
		Allow:  []string{"POST /"},
	})
}
