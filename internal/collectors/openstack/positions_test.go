package openstack

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func TestPositions(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2026, 11, 20, 7, minute, 0, 0, time.UTC) }
	resource := func(kind, id string, updated time.Time) model.Resource {
		return model.Resource{Key: model.Key{Source: "cloud", Kind: kind, ID: id}, Updated: updated}
	}
	got := positions([]model.Resource{
		resource("openstack/keypair", "a", time.Time{}),
		resource("openstack/port", "a", at(1)), resource("openstack/port", "b", at(3)), resource("openstack/port", "c", at(2)),
		resource("openstack/server", "a", time.Time{}), resource("openstack/server", "b", at(9)),
	}, at(10))
	want := []model.Position{
		{Scope: model.Scope{Kind: "openstack/port"}, Name: "the newest change of openstack/port", Value: at(3).Unix(), Object: "b", Asked: at(10)},
		{Scope: model.Scope{Kind: "openstack/server"}, Name: "the newest change of openstack/server", Value: at(9).Unix(), Object: "b", Asked: at(10)},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("positions (-want +got):\n%s", diff)
	}
}
