package manifests

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/chart/fetch"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// ArgoCDType is the type of declarations of Argo CD Applications.
const ArgoCDType = "argocd"

// ArgoCDConfig configures a declaration of Argo CD Applications and of the objects that they deploy.
type ArgoCDConfig struct {
	gitrepo.Place    `mapstructure:",squash"`
	gitrepo.Lookback `mapstructure:",squash"`

	// Namespace is the namespace of Argo CD, and of Applications that specify none.
	Namespace string `mapstructure:"namespace"`
	// SameRepository are further URLs that Applications use for this repository, such as those of a mirror.
	// The URL in git, and for a dir the remote of its work tree, always count.
	SameRepository []string `mapstructure:"same_repository"`
	// Repositories are further repositories that are read if Applications refer to them, each with its
	// credentials. Sources in other repositories are unchecked.
	Repositories []Permission `mapstructure:"repositories"`
	// SourceBranch is the branch in targetRevision that the declaration represents. The default for a dir
	// is the branch that is checked out, and each ref of the same commit. For git, each other revision is
	// read from the repository.
	SourceBranch string `mapstructure:"source_branch"`
	// Clusters are the destinations, by server URL or by name, that refer to the governed source.
	// Applications with other destinations are unchecked.
	Clusters []string `mapstructure:"clusters"`
	// Charts are the URLs below which charts of Applications may be fetched, such as
	// https://charts.example.org and oci://registry.example.org/charts, each with its credentials. By default, none are fetched.
	Charts []fetch.Entry `mapstructure:"charts"`
	// KubeVersion is the Kubernetes version for which charts are rendered.
	KubeVersion string `mapstructure:"kube_version"`
	// APIVersions are API versions of the cluster in addition to the stable ones of Kubernetes:
	// monitoring.coreos.com/v1.
	APIVersions []string `mapstructure:"api_versions"`
	// Namespaces are namespaces that are always governed: every object in them is expected to be declared.
	Namespaces []string `mapstructure:"namespaces"`
	// MaxApplications bounds the number of Applications.
	MaxApplications int `mapstructure:"max_applications"`
	// MaxFileSize bounds the size of a file, in bytes.
	MaxFileSize int64 `mapstructure:"max_file_size"`
	// MaxFiles bounds the number of files, and the number of folders, of one source.
	MaxFiles int `mapstructure:"max_files"`
	// Timeout is the maximum duration of one reading of the declaration.
	Timeout time.Duration `mapstructure:"timeout"`
	// DeployWindow is the time after a commit in which applying the previous version is an
	// ordinary deploy, and in which a new object may be absent.
	DeployWindow time.Duration `mapstructure:"deploy_window"`
	// ApplyBeforeMerge accepts values that were applied from a branch or pull request before
	// the merge: they are pending instead of bypassed.
	ApplyBeforeMerge bool `mapstructure:"apply_before_merge"`
}

// ArgoCDDefaults returns the default settings.
func ArgoCDDefaults() ArgoCDConfig {
	d, helm := Defaults(), HelmDefaults()
	return ArgoCDConfig{
		Place: d.Place, Lookback: d.Lookback, Namespace: "argocd", KubeVersion: helm.KubeVersion,
		Clusters:        []string{"https://kubernetes.default.svc", "in-cluster"},
		MaxApplications: 5000, MaxFileSize: d.MaxFileSize, MaxFiles: d.MaxFiles, Timeout: d.Timeout, DeployWindow: d.DeployWindow,
	}
}

// ArgoCDDefinition returns the definition of the loader type "argocd".
func ArgoCDDefinition() declared.Definition {
	return declared.Define(ArgoCDType, ArgoCDDefaults(), func(env declared.Env, config ArgoCDConfig) (declared.Loader, error) {
		if err := config.check(); err != nil {
			return nil, err
		}
		l, err := open(env, config.manifests())
		if err != nil {
			return nil, err
		}
		l.argocd, l.charts = &argocd{config}, &chartCaches{limit: env.MaxMemory}
		if l.remote, err = newRemoteCharts(config.Charts); err != nil {
			return nil, err
		}
		l.others, err = permit(env, config.Repositories, config.Place, config.Lookback, l.argocd.urls())
		return l, err
	})
}

// manifests returns the settings that manifests have, too.
func (c ArgoCDConfig) manifests() Config {
	m := Defaults()
	m.Place, m.Lookback, m.DefaultNamespace, m.Namespaces = c.Place, c.Lookback, c.Namespace, c.Namespaces
	m.MaxFileSize, m.MaxFiles, m.Timeout, m.DeployWindow, m.ApplyBeforeMerge = c.MaxFileSize, c.MaxFiles, c.Timeout, c.DeployWindow, c.ApplyBeforeMerge
	return m
}

func (c ArgoCDConfig) check() error {
	if err := c.Place.Check("Applications"); err != nil {
		return err
	}
	switch {
	case !isName(c.Namespace):
		return fmt.Errorf("namespace %q is not the name of a namespace: name that of Argo CD", c.Namespace)
	case c.MaxApplications <= 0:
		return fmt.Errorf("max_applications %d: want more than 0", c.MaxApplications)
	case slices.Contains(c.Clusters, ""):
		return errors.New("clusters: want the URLs of servers, or names of clusters")
	}
	for _, url := range c.SameRepository {
		if sourceName(url) == "" {
			return fmt.Errorf("same_repository: %q is not the URL of a repository", withoutSecrets(url))
		}
	}
	return nil
}

// argocd has the settings of a declaration of Applications.
type argocd struct{ ArgoCDConfig }
