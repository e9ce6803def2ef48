package alertmanager

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/notify"
)

// batch is the maximum number of alerts in one request.
const batch = 500

// push sends alerts in batches, and stops after an error. It also sends an empty list, to check
// that the Alertmanager responds.
func (p *peer) push(ctx context.Context, alerts []alert) error {
	parts := slices.Collect(slices.Chunk(alerts, batch))
	if len(parts) == 0 {
		parts = [][]alert{{}}
	}
	for _, part := range parts {
		err := p.send(ctx, part)
		if notify.IsFinal(err) && len(part) > 0 && p.send(ctx, []alert{}) == nil {
			p.log.Warn("the Alertmanager refused a request with alerts: sending them in smaller ones", "to", p.to.Host, "err", err)
			err = p.separate(ctx, part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// separate sends alerts that were refused together, while an empty list was accepted: a filter in front of the Alertmanager
// refuses the size of the request, or a name or value in one alert. A person who can write to a live system could
// otherwise stop all alerts. An alert that is refused alone is sent without contents.
func (p *peer) separate(ctx context.Context, refused []alert) error {
	if len(refused) == 1 {
		return p.send(ctx, []alert{refused[0].reduced()})
	}
	for half := range slices.Chunk(refused, (len(refused)+1)/2) {
		err := p.send(ctx, half)
		if notify.IsFinal(err) {
			err = p.separate(ctx, half)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// send sends alerts in one request.
func (p *peer) send(ctx context.Context, alerts []alert) error {
	body, err := json.Marshal(alerts)
	if err != nil {
		return notify.Refused(fmt.Errorf("write alerts as JSON: %w", err))
	}
	return p.client.Send(ctx, p.to, p.header.Clone(), body)
}
