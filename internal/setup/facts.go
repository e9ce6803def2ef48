package setup

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/kubernetes"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/openstackapi"
)

// Facts describe the systems and files that were found on a machine.
type Facts struct {
	Trees []Tree
	// Contexts are the contexts of the kubeconfig, sorted by name, and CurrentContext is the name of the current one.
	Contexts       []kubernetes.Context
	CurrentContext string
	// SeveralKubeconfigs reports whether the contexts come from several files.
	SeveralKubeconfigs bool
	// CloudsFile is the clouds.yaml that the openstack command would use. Clouds are the names of its
	// entries, sorted.
	CloudsFile string
	Clouds     []string
	// Environment contains the environment variables in Variables that are set.
	Environment map[string]string
	// Home is the home folder of the user, or "" if it is unknown.
	Home string
	// HomeFolders are the folders in Home that contain credentials of Terraform's providers and backends.
	HomeFolders []string
	// Unread are descriptions of the parts outside of the trees that could not be read.
	Unread []string
}

// variables returns the names of the environment variables that name systems. None holds a credential.
func variables() []string {
	return []string{"PROXMOX_VE_ENDPOINT", "PM_API_URL", "NETBOX_SERVER_URL", "OS_CLOUD", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION",
		"TF_CLI_CONFIG_FILE"}
}

// Gather collects the facts from folders, the kubeconfig, the clouds.yaml and the environment.
func Gather(ctx context.Context, dirs []string, getenv func(string) string) (Facts, error) {
	f := Facts{Environment: map[string]string{}}
	var problems []error
	for _, dir := range dirs {
		absolute, err := filepath.Abs(dir)
		if err == nil {
			var tree Tree
			tree, err = Look(ctx, absolute)
			tree.ReadContents()
			f.Trees = append(f.Trees, tree)
		}
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return Facts{}, err
	}
	for _, name := range variables() {
		if value := getenv(name); value != "" {
			f.Environment[name] = value
		}
	}
	f.Home, _ = os.UserHomeDir() // without one, nothing is looked for there
	f.HomeFolders = homeFolders(f.Home)
	f.SeveralKubeconfigs = strings.Contains(getenv("KUBECONFIG"), string(filepath.ListSeparator))
	var err error
	if f.Contexts, f.CurrentContext, err = kubernetes.Contexts(""); err != nil {
		f.Unread = append(f.Unread, err.Error())
	}
	f.readClouds(getenv)
	return f, nil
}

// readClouds reads the first clouds.yaml in the order of openstacksdk.
func (f *Facts) readClouds(getenv func(string) string) {
	files := []string{getenv("OS_CLIENT_CONFIG_FILE"), "clouds.yaml",
		filepath.Join(cmp.Or(getenv("XDG_CONFIG_HOME"), filepath.Join(f.Home, ".config")), "openstack", "clouds.yaml"), "/etc/openstack/clouds.yaml"}
	for _, file := range files {
		if file == "" {
			continue
		}
		absolute, err := filepath.Abs(file)
		if err == nil {
			_, err = os.Stat(absolute)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			f.CloudsFile = absolute
			f.Clouds, err = openstackapi.CloudNames(absolute)
		}
		if err != nil {
			f.Unread = append(f.Unread, err.Error())
		}
		slices.Sort(f.Clouds)
		return
	}
}

// Empty reports whether Gather found nothing that driftd can read.
func (f *Facts) Empty() bool {
	return len(f.Contexts)+len(f.Clouds) == 0 && !slices.ContainsFunc(f.Trees, func(t Tree) bool { return len(t.Roots)+len(t.Manifests) > 0 })
}

// DefaultContexts returns the current context, and the contexts whose names are those of folders with
// manifests.
func (f *Facts) DefaultContexts() []string {
	folders := map[string]bool{}
	for i := range f.Trees {
		if len(f.Trees[i].Manifests) > 0 {
			folders[filepath.Base(f.Trees[i].Dir)] = true
		}
		for _, dir := range f.Trees[i].Manifests {
			for element := range strings.SplitSeq(dir, "/") {
				folders[element] = true
			}
		}
	}
	var names []string
	for _, c := range f.Contexts {
		if c.Name == f.CurrentContext || folders[c.Name] || folders[config.NameOf(c.Name)] {
			names = append(names, c.Name)
		}
	}
	return names
}

// DefaultClouds returns the clouds to which a root or $OS_CLOUD refers or, if there are none, the only
// cloud.
func (f *Facts) DefaultClouds() []string {
	named := map[string]bool{f.Environment["OS_CLOUD"]: true}
	for _, p := range f.configured() {
		if p.Name == openstack {
			named[p.Settings["cloud"]] = true
		}
	}
	names := slices.DeleteFunc(slices.Clone(f.Clouds), func(name string) bool { return !named[name] })
	if len(names) == 0 && len(f.Clouds) == 1 {
		return f.Clouds
	}
	return names
}

// Problems returns descriptions of the parts that could not be read.
func (f *Facts) Problems() []string {
	all := slices.Clone(f.Unread)
	for i := range f.Trees {
		all = append(all, f.Trees[i].Unread...)
	}
	return all
}
