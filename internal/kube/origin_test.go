package kube_test

import (
	"testing"

	"github.com/driftd/driftd/internal/kube"
)

// Each kind is read before those whose objects own its objects.
func TestOwnerRank(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"Pod", "ReplicaSet.apps"}, {"Pod", "Job.batch"}, {"Pod", "StatefulSet.apps"}, {"Pod", "Node"},
		{"ReplicaSet.apps", "Deployment.apps"}, {"Job.batch", "CronJob.batch"}, {"ControllerRevision.apps", "DaemonSet.apps"},
		{"EndpointSlice.discovery.k8s.io", "Service"}, {"Endpoints", "Service"}, {"PersistentVolumeClaim", "StatefulSet.apps"},
		{"Secret", "Certificate.cert-manager.io"}, {"Deployment.apps", "Widget.example.org"}, {"Pod", "Widget.example.org"},
	} {
		child, owner := kube.OwnerRank("kubernetes/"+pair[0]), kube.OwnerRank("kubernetes/"+pair[1])
		if child >= owner || owner >= kube.OwnerRanks {
			t.Errorf("%s has rank %d, its owner %s %d of %d", pair[0], child, pair[1], owner, kube.OwnerRanks)
		}
	}
}
