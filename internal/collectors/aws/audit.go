package aws

import (
	"cmp"
	"context"
	"slices"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws/catalogue"
	"github.com/driftd/driftd/internal/collectors/aws/cloudtrail"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// addLog adds the events of CloudTrail to a snapshot, and the reasons why an actor may be
// unknown.
func (c *inventory) addLog(ctx context.Context, sc *scan, s *model.Snapshot) {
	if !c.config.Audit.Reads(sc.session.isCompatible()) {
		return
	}
	client := sc.session.client
	who, err := sc.account(ctx)
	if err != nil {
		s.LogUnread = "the account of CloudTrail's log is unknown: " + cmp.Or(collectors.Ended(err), printable.Text(err.Error()))
		setUnknown(s, func(string) string { return s.LogUnread }, s.LogUnread)
		return
	}
	regions, regionOf := []string{client.Config.Region}, map[string]string{}
	if sc.estate != nil {
		regions, regionOf[catalogue.Global] = append(regions, sc.estate.regions...), catalogue.Global
		for _, region := range sc.estate.regions {
			regionOf[region] = region
		}
	}
	for _, b := range sc.buckets {
		if isRegion(b.region) {
			regions, regionOf[b.Name] = append(regions, b.region), b.region
		}
	}
	slices.Sort(regions)
	server := cloudtrail.Server{Client: client, Objects: &objects{session: sc.session}, Compatible: sc.session.isCompatible()}
	log := c.log.Read(ctx, server, cloudtrail.Account{Number: who.Account, Partition: who.Partition}, slices.Compact(regions), sc.taken)
	s.AuditEvents, s.LogUnread = log.Events, log.Unread()
	setUnknown(s, func(place string) string { return log.Unknown(cmp.Or(regionOf[place], client.Config.Region)) }, cmp.Or(log.Unread(), log.Unknown(client.Config.Region)))
}

// setUnknown sets why the actor of a change of a resource may be unknown, by its place, and
// that of one that is gone.
func setUnknown(s *model.Snapshot, at func(place string) string, gone string) {
	for i := range s.Resources {
		s.Resources[i].WriterUnknown = at(s.Resources[i].Place)
	}
	for _, k := range s.Kinds {
		k.WriterUnknown = gone
	}
}
