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

// FluxType is the type of declarations of repositories that Flux applies.
const FluxType = "flux"

// FluxConfig configures a declaration of a repository that Flux applies: the folder of a cluster, and
// everything that the Kustomizations in it apply.
type FluxConfig struct {
	gitrepo.Place    `mapstructure:",squash"`
	gitrepo.Lookback `mapstructure:",squash"`

	// SameRepository are URLs of Flux sources that contain this repository, in addition to its own URL:
	// those of mirrors, and of OCI artifacts and buckets of the whole repository.
	SameRepository []string `mapstructure:"same_repository"`
	// Repositories are further repositories that are read if a GitRepository refers to them, each with its
	// credentials. Kustomizations of other sources are unchecked.
	Repositories []Permission `mapstructure:"repositories"`
	// SourceBranch is the branch that Flux sources read. A source of another branch is not compared. The
	// default for git is each branch whose head is the commit that is read, and for a dir the branch that
	// is checked out.
	SourceBranch string `mapstructure:"source_branch"`
	// StrictSubstitution reports whether the controller has the feature gate StrictPostBuildSubstitutions,
	// which makes a variable that is not set an error.
	StrictSubstitution bool `mapstructure:"strict_substitution"`
	// Charts are the URLs below which charts of HelmReleases may be fetched, such as
	// https://charts.example.org and oci://registry.example.org/charts, each with its credentials. By default, none are fetched.
	Charts []fetch.Entry `mapstructure:"charts"`
	// KubeVersion is the Kubernetes version for which charts are rendered.
	KubeVersion string `mapstructure:"kube_version"`
	// APIVersions are API versions of the cluster in addition to the stable ones of Kubernetes:
	// monitoring.coreos.com/v1.
	APIVersions []string `mapstructure:"api_versions"`
	// DisableChartDigestTracking reports whether helm-controller has the feature gate of this name:
	// versions of charts from OCIRepositories do not contain the digest.
	DisableChartDigestTracking bool `mapstructure:"disable_chart_digest_tracking"`
	// MaxKustomizations bounds the number of Kustomizations of Flux that are built, and of HelmReleases.
	MaxKustomizations int `mapstructure:"max_kustomizations"`
	// Namespaces are namespaces that are always governed: every object in them is expected to be declared.
	Namespaces []string `mapstructure:"namespaces"`
	// AllowNetwork allows kustomize to fetch remote bases, which requires git.
	AllowNetwork bool `mapstructure:"allow_network"`
	// MaxFileSize bounds the size of a file, in bytes.
	MaxFileSize int64 `mapstructure:"max_file_size"`
	// MaxFiles bounds the number of files, and the number of folders, below the path of one
	// Kustomization.
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

const defaultKustomizations = 1000

// FluxDefaults returns the default settings.
func FluxDefaults() FluxConfig {
	d := Defaults()
	return FluxConfig{
		Place: d.Place, Lookback: d.Lookback, MaxKustomizations: defaultKustomizations, KubeVersion: HelmDefaults().KubeVersion,
		MaxFileSize: d.MaxFileSize, MaxFiles: d.MaxFiles, Timeout: d.Timeout, DeployWindow: d.DeployWindow,
	}
}

// FluxDefinition returns the definition of the loader type "flux".
func FluxDefinition() declared.Definition {
	d := declared.Define(FluxType, FluxDefaults(), func(env declared.Env, config FluxConfig) (declared.Loader, error) {
		if config.MaxKustomizations <= 0 {
			return nil, fmt.Errorf("max_kustomizations %d: want more than 0", config.MaxKustomizations)
		}
		for _, url := range config.SameRepository {
			if sourceName(url) == "" {
				return nil, errors.New("same_repository: an entry is no URL of a repository, such as https://git.example.org/shop.git")
			}
		}
		l, err := open(env, config.manifests())
		if err != nil {
			return nil, err
		}
		l.flux, l.charts = &config, &chartCaches{limit: env.MaxMemory}
		if l.remote, err = newRemoteCharts(config.Charts); err != nil {
			return nil, err
		}
		l.others, err = permit(env, config.Repositories, config.Place, config.Lookback, append(slices.Clone(config.SameRepository), config.Git))
		return l, err
	})
	d.IsMember = isMember
	return d
}

// manifests returns the settings that manifests have, too.
func (c FluxConfig) manifests() Config {
	m := Defaults()
	m.Place, m.Lookback, m.Namespaces, m.AllowNetwork = c.Place, c.Lookback, c.Namespaces, c.AllowNetwork
	m.MaxFileSize, m.MaxFiles, m.Timeout = c.MaxFileSize, c.MaxFiles, c.Timeout
	m.DeployWindow, m.ApplyBeforeMerge = c.DeployWindow, c.ApplyBeforeMerge
	return m
}
