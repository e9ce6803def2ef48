package aws

import (
	"context"
	"net/http"
	"net/url"

	"github.com/driftd/driftd/internal/collectors/aws/cloudtrail"
	"github.com/driftd/driftd/internal/collectors/aws/vocabulary"
	"github.com/driftd/driftd/internal/collectors/pinned"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/record"
)

// Record reads the account as Collect does, with requests through the transport that through
// returns. The log of calls is not read: its events have what people sent. Types that are listed by
// their names are not read: which of their properties users name is not known.
func (c *inventory) Record(ctx context.Context, through func(http.RoundTripper) http.RoundTripper) (model.Snapshot, error) {
	recorded := &inventory{env: c.env, config: c.config, account: pinned.New("account", "", c.env.Log), now: c.now, backoff: c.backoff, through: through}
	recorded.config.Audit, recorded.config.CloudControl = cloudtrail.Config{}, nil
	return recorded.Collect(ctx)
}

// Vocabulary returns the words that a recording contains unchanged.
func (c *inventory) Vocabulary() *record.Vocabulary {
	if u, err := url.Parse(c.config.Endpoint); err == nil {
		return vocabulary.Of(u.Host)
	}
	return vocabulary.Of("")
}
