package openstackapi

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
	"github.com/driftd/driftd/internal/printable"
)

// A service is an OpenStack service, with its form in the catalogue.
type service struct {
	// name is its name in this package, and types its types in catalogues, the most likely
	// first.
	name  string
	types []string
	// version is the API version to append to an address of the catalogue without one: v2.1.
	version string
	// project reports whether the project's id follows the version.
	project bool
}

func services() []service {
	return []service{
		{name: normalize.Compute, types: []string{"compute"}, version: "v2.1"},
		{name: normalize.Networking, types: []string{"network", "networking"}, version: "v2.0"},
		{name: normalize.Imaging, types: []string{"image"}, version: "v2"},
		{name: normalize.BlockStorage, types: []string{"block-storage", "volumev3", "block-store", "volume"}, version: "v3", project: true},
	}
}

// Identity is the name of the service that performed the login.
const Identity = "identity"

// An endpoint is the address of a service.
type endpoint struct {
	// url ends with "/".
	url string
	// newest is the newest microversion of the service, if it has microversions.
	newest microversion
	// err is why the service cannot be used.
	err error
}

// header returns the headers for a microversion, or for the newest one before it.
func (e endpoint) header(wanted string) map[string]string {
	want, ok := parseMicroversion(wanted)
	if e.newest == (microversion{}) || !ok {
		return nil
	}
	if e.newest.before(want) {
		want = e.newest
	}
	return map[string]string{"OpenStack-API-Version": "compute " + want.String(), "X-OpenStack-Nova-API-Version": want.String()}
}

// findEndpoints sets the region, and the endpoints of the services according to the catalogue.
func (s *Session) findEndpoints(l Login) error {
	regions := s.regions()
	switch {
	case l.region == "" && len(regions) > 1:
		return &CatalogueError{Reason: "the cloud has several regions: " + strings.Join(regions, ", "), Hint: "set region to one of them"}
	case l.region != "" && !slices.Contains(regions, l.region):
		return &CatalogueError{Reason: fmt.Sprintf("the cloud has no region %s; it has %s", printable.Text(l.region), strings.Join(regions, ", ")), Hint: "set region to one of them"}
	}
	region := cmp.Or(l.region, strings.Join(regions, ""))
	s.Region = region
	s.endpoints = map[string]endpoint{Identity: {url: s.client.IdentityBase + "v3/"}}
	for _, sv := range services() {
		s.endpoints[sv.name] = sv.endpoint(s.Grant, region, l.iface)
	}
	return nil
}

// regions returns the regions in the catalogue, sorted.
func (s *Session) regions() []string {
	var all []string
	for _, entry := range s.Grant.Catalog {
		for _, e := range entry.Endpoints {
			all = append(all, printable.Text(regionOf(e)))
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return name == "" })
}

func regionOf(e tokens.Endpoint) string { return cmp.Or(e.RegionID, e.Region) }

// endpoint returns the endpoint of the service in a region. If there is none, it returns an
// endpoint with an error.
func (sv service) endpoint(g Grant, region, iface string) endpoint {
	for _, typ := range sv.types {
		for _, entry := range g.Catalog {
			for _, e := range entry.Endpoints {
				if entry.Type != typ || e.Interface != iface || regionOf(e) != region {
					continue
				}
				if at, ok := sv.address(e.URL, g.Project.ID); ok {
					return at
				}
			}
		}
	}
	where := "the catalogue"
	if region != "" {
		where += " of region " + region
	}
	if iface != "public" {
		where += ", interface " + iface + ","
	}
	return endpoint{err: &CatalogueError{Reason: where + " has no " + sv.name + " service", Hint: "its kinds are not read", Absent: true}}
}

// address completes an address in the catalogue. If the address is that of another API version, ok
// is false.
func (sv service) address(text, project string) (e endpoint, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return endpoint{err: &CatalogueError{Reason: "the endpoint of the " + sv.name + " service in the catalogue is not an address", Hint: "correct it in Keystone"}}, true
	}
	if isCleartext(u) {
		return endpoint{err: &CatalogueError{Reason: fmt.Sprintf("the endpoint of the %s service in the catalogue is http://%s, and a token must not cross the network without encryption", sv.name, u.Host),
			Hint: "offer the service with https://, or set another interface in clouds_file"}}, true
	}
	u.RawQuery, u.Fragment, u.Path = "", "", strings.TrimRight(u.Path, "/")
	version, last := versionIn(u.Path)
	switch {
	case version == "":
		u.Path, last = u.Path+"/"+sv.version, true
	case !strings.HasPrefix(version, sv.version[:2]):
		return endpoint{}, false
	}
	if last && sv.project {
		u.Path += "/" + project
	}
	u.Path += "/"
	return endpoint{url: u.String()}, true
}

// versionIn returns the version in a path, and whether it is the last part.
func versionIn(path string) (version string, last bool) {
	parts := strings.Split(path, "/")
	i := slices.IndexFunc(parts, regexp.MustCompile(`^v[0-9]+(\.[0-9]+)?$`).MatchString)
	if i < 0 {
		return "", false
	}
	return parts[i], i == len(parts)-1
}

// A microversion is a version of Nova's API.
type microversion struct{ major, minor int }

// defaultMicroversion is the newest microversion in which servers have the id of their flavor.
const defaultMicroversion = "2.46"

func parseMicroversion(text string) (microversion, bool) {
	major, minor, ok := strings.Cut(text, ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	return microversion{a, b}, ok && errA == nil && errB == nil
}

func (m microversion) before(n microversion) bool {
	return cmp.Or(cmp.Compare(m.major, n.major), cmp.Compare(m.minor, n.minor)) < 0
}

// String returns the microversion in the form "2.46".
func (m microversion) String() string { return fmt.Sprintf("%d.%d", m.major, m.minor) }

// negotiate reads the newest microversion of Nova. It remains zero if Nova has no microversions.
func (s *Session) negotiate(ctx context.Context) {
	at := s.endpoints[normalize.Compute]
	if at.err != nil {
		return
	}
	base := at.url
	if version, last := versionIn(strings.TrimRight(base, "/")); !last {
		before, _, _ := strings.Cut(base, "/"+version+"/")
		base = before + "/" + version + "/"
	}
	v, err := s.read(ctx, base, nil, nil)
	switch text := v.At("version", "version"); {
	case err != nil:
		at.err = err
	case v.At("version", "id").Str() == "":
		at.err = &httpclient.Unexpected{Reason: "the answer has no version of the compute service"}
	default:
		at.newest, _ = parseMicroversion(text.Str())
	}
	s.endpoints[normalize.Compute] = at
}

// Newest returns the newest microversion of a service, such as "2.96"; "" if it has none.
func (s *Session) Newest(service string) string {
	newest := s.endpoints[service].newest
	if newest == (microversion{}) {
		return ""
	}
	return newest.String()
}

// Supports reports whether a service supports a microversion. It returns false if version is not
// valid.
func (s *Session) Supports(service, version string) bool {
	want, ok := parseMicroversion(version)
	return ok && !s.endpoints[service].newest.before(want)
}
