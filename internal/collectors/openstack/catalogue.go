package openstack

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

	"github.com/driftd/driftd/internal/collectors/openstack/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// A service is one that is read, and how the catalogue leads to it.
type service struct {
	// name is what this package calls it; types are what catalogues call it, the
	// surest first.
	name  string
	types []string
	// version is the part of its address that names the interface's version, where
	// the catalogue names none: v2.1.
	version string
	// project tells that the project's id follows the version.
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

// identity is the service that was logged in at.
const identity = "identity"

// An endpoint is where a service answers.
type endpoint struct {
	// url ends with "/".
	url string
	// newest is the newest version of the service's interface, where it counts
	// them.
	newest microversion
	// err says why the service cannot be asked.
	err error
}

// header is what asks for a version of the interface, or the newest before it.
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

// find looks the services up in the catalogue.
func (s *session) find(l login) error {
	regions := s.regions()
	switch {
	case l.region == "" && len(regions) > 1:
		return &catalogueError{what: "the cloud has several regions: " + strings.Join(regions, ", "), hint: "set region to one of them"}
	case l.region != "" && !slices.Contains(regions, l.region):
		return &catalogueError{what: fmt.Sprintf("the cloud has no region %s; it has %s", httpclient.Printable(l.region), strings.Join(regions, ", ")), hint: "set region to one of them"}
	}
	region := cmp.Or(l.region, strings.Join(regions, ""))
	s.endpoints = map[string]endpoint{identity: {url: s.client.IdentityBase + "v3/"}}
	for _, sv := range services() {
		s.endpoints[sv.name] = sv.endpoint(s.grant, region, l.face)
	}
	return nil
}

// regions are those of the catalogue, sorted.
func (s *session) regions() []string {
	var all []string
	for _, entry := range s.grant.Catalog {
		for _, e := range entry.Endpoints {
			all = append(all, httpclient.Printable(regionOf(e)))
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return name == "" })
}

func regionOf(e tokens.Endpoint) string { return cmp.Or(e.RegionID, e.Region) }

// endpoint returns where the service answers in a region, or why it does not.
func (sv service) endpoint(g grant, region, face string) endpoint {
	for _, typ := range sv.types {
		for _, entry := range g.Catalog {
			for _, e := range entry.Endpoints {
				if entry.Type != typ || e.Interface != face || regionOf(e) != region {
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
	if face != "public" {
		where += ", interface " + face + ","
	}
	return endpoint{err: &catalogueError{what: where + " has no " + sv.name + " service", hint: "its kinds are not read", absent: true}}
}

// address completes an address of the catalogue; ok tells whether it is one of
// this service's version.
func (sv service) address(text, project string) (e endpoint, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return endpoint{err: &catalogueError{what: "the endpoint of the " + sv.name + " service in the catalogue is no address", hint: "correct it in Keystone"}}, true
	}
	if inTheClear(u) {
		return endpoint{err: &catalogueError{what: fmt.Sprintf("the endpoint of the %s service in the catalogue is http://%s, and a token must not cross the network in the clear", sv.name, u.Host),
			hint: "have the service offered with https://, or name another interface in clouds_file"}}, true
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

// versionIn returns the part of a path that names a version, and whether nothing
// follows it.
func versionIn(path string) (version string, last bool) {
	parts := strings.Split(path, "/")
	i := slices.IndexFunc(parts, regexp.MustCompile(`^v[0-9]+(\.[0-9]+)?$`).MatchString)
	if i < 0 {
		return "", false
	}
	return parts[i], i == len(parts)-1
}

// A microversion is a version of Nova's interface.
type microversion struct{ major, minor int }

// usual is the newest microversion in which servers still name their flavor.
const usual = "2.46"

func parseMicroversion(text string) (microversion, bool) {
	major, minor, ok := strings.Cut(text, ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	return microversion{a, b}, ok && errA == nil && errB == nil
}

func (m microversion) before(n microversion) bool {
	return cmp.Or(cmp.Compare(m.major, n.major), cmp.Compare(m.minor, n.minor)) < 0
}

// String returns "2.46".
func (m microversion) String() string { return fmt.Sprintf("%d.%d", m.major, m.minor) }

// negotiate asks Nova which microversions it has. One that counts none is asked
// for none.
func (s *session) negotiate(ctx context.Context) {
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
		at.err = &httpclient.Unexpected{Reason: "the answer tells no version of the compute service"}
	default:
		at.newest, _ = parseMicroversion(text.Str())
	}
	s.endpoints[normalize.Compute] = at
}

// speaks tells whether a service has a microversion.
func (s *session) speaks(service, version string) bool {
	want, ok := parseMicroversion(version)
	return ok && !s.endpoints[service].newest.before(want)
}

// A recent field is one that rows have since some microversion.
type recent struct {
	kind, field string
	since       microversion
}

// recents are the fields that an older Nova does not tell (its own
// rest_api_version_history).
func recents() []recent {
	return []recent{
		{normalize.Server, "locked", microversion{2, 9}},
		{normalize.Server, "description", microversion{2, 19}},
		{normalize.Server, "tags", microversion{2, 26}},
		{normalize.Keypair, "type", microversion{2, 2}},
		{normalize.Flavor, "description", microversion{2, 55}},
		{normalize.Flavor, "extra_specs", microversion{2, 61}},
	}
}

// untold are the recent fields that the Nova of this session does not tell.
func (s *session) untold() []recent {
	newest := s.endpoints[normalize.Compute].newest
	return slices.DeleteFunc(recents(), func(r recent) bool { return !newest.before(r.since) })
}

// untoldFields are the recent fields that the Nova of this session does not tell, by
// kind, each with the reason.
func (s *session) untoldFields() map[string][]model.UnreadField {
	fields := map[string][]model.UnreadField{}
	for _, r := range s.untold() {
		fields[r.kind] = append(fields[r.kind], model.UnreadField{Name: r.field,
			Reason: fmt.Sprintf("its %s is not known: Nova tells it since version %s, and this one has %s", r.field, r.since, s.endpoints[normalize.Compute].newest)})
	}
	return fields
}
