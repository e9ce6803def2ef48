package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

const (
	// releaseType is the type of the Secrets in which Helm records its releases, and releasePrefix
	// what their names begin with.
	releaseType   = "helm.sh/release.v1"
	releasePrefix = "sh.helm.release.v1."
	// onlyMetadata is the Accept header of a list without the content of its objects.
	onlyMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

const (
	// helmTime bounds a check, helmListTime each of its two lists, and helmNamespaceTime reading the records
	// of one namespace. Everyone who can create Secrets in a namespace can write records of any number and
	// size there. Records that were read are remembered, so that the next check goes on.
	helmTime          = 15 * time.Second
	helmListTime      = 5 * time.Second
	helmNamespaceTime = 5 * time.Second
	// maxReleases bounds the records of each list.
	maxReleases = 50000
)

// A release is one recorded revision of a release of Helm.
type release struct {
	// secret and namespace are those of the record, and version is its resourceVersion.
	secret, namespace, version string
	name                       string
	revision                   int
	deployed                   bool
}

// checkHelm refuses objects that are part of a release of Helm, according to the manifest of the
// last revision or of one that is deployed. It reads the records that Helm keeps in Secrets, which
// is its default. A record that cannot be read may be anything. It refuses the objects of its namespace,
// and those that show signs of Helm: otherwise anyone who can create a Secret could stop all actions.
// shown is the object itself or, if that does not exist, what is declared.
func (a *Actuator) checkHelm(ctx context.Context, c *client, s *subject, shown model.Value) *reconcile.Refusal {
	times := helmTimes{now: a.options.Now, end: a.options.Now().Add(helmTime), spent: map[string]time.Duration{}}
	releases, unlisted, err := times.list(ctx, c, s.namespace)
	if err != nil {
		if httpclient.Code(err) == http.StatusForbidden {
			return refuse(guardDeclarer, "Helm may apply it: the credentials for reading may not list secrets of type %s in all namespaces: grant get and list on secrets", releaseType)
		}
		return refuse(guardDeclarer, "Helm may apply it: list its releases: %s", c.explainList(err))
	}
	releases = current(releases, s.namespace)
	if unlisted == "" {
		a.releases.forget(releases)
	}
	var doubt *reconcile.Refusal
	if sign := helmSign(shown); unlisted != "" && sign != "" {
		doubt = refuse(guardDeclarer, "Helm may apply it, since it has the %s: list the releases of all namespaces: %s", sign, unlisted)
	}
	for i := range releases {
		r := &releases[i]
		record, err := times.read(ctx, a.releases, c, r)
		if err != nil {
			return refuse(guardDeclarer, "Helm may apply it: read the release in Secret %s/%s: %s", r.namespace, r.secret, c.explain(err))
		}
		if slices.ContainsFunc(record.objects, s.isObject) {
			return refuse(guardDeclarer, "it is part of release %s of Helm in namespace %s: run helm upgrade %s --namespace=%s with its chart and its values", r.name, r.namespace, r.name, r.namespace)
		}
		if doubt != nil || record.unread == "" {
			continue
		}
		if sign := helmSign(shown); sign != "" {
			doubt = refuse(guardDeclarer, "Helm may apply it, since it has the %s: the release in Secret %s/%s: %s", sign, r.namespace, r.secret, record.unread)
		} else if s.namespaced && r.namespace == s.namespace {
			doubt = refuse(guardDeclarer, "Helm may apply it: the release in Secret %s/%s: %s", r.namespace, r.secret, record.unread)
		}
	}
	return doubt
}

// isObject reports whether an object of a release is that of the subject.
func (s *subject) isObject(o ref) bool {
	if !s.namespaced {
		o.namespace = ""
	}
	return o == s.ref()
}

// helmSign returns what in an object shows that Helm may apply it; "" for nothing.
// https://helm.sh/docs/chart_best_practices/labels/
func helmSign(object model.Value) string {
	metadata := object.At("metadata")
	if metadata.At("labels", "app.kubernetes.io/managed-by").Str() == "Helm" {
		return "label app.kubernetes.io/managed-by=Helm"
	}
	for _, name := range []string{"meta.helm.sh/release-name", "meta.helm.sh/release-namespace"} {
		if _, ok := metadata.At("annotations").Get(name); ok {
			return "annotation " + name
		}
	}
	for _, entry := range metadata.At("managedFields").Items() {
		if name := entry.At("manager").Str(); strings.EqualFold(name, "helm") || name == "helm-controller" {
			return "field manager " + name
		}
	}
	return ""
}

// helmTimes are the times that one check spends.
type helmTimes struct {
	now func() time.Time
	end time.Time
	// spent is the time by namespace.
	spent map[string]time.Duration
}

// read reads the record of a release, unless there is no time left for it. The error is one of the
// connection or of the API server.
func (t *helmTimes) read(ctx context.Context, cache *releaseCache, c *client, r *release) (releaseRecord, error) {
	if record, ok := cache.get(r); ok {
		return record, nil
	}
	began := t.now()
	left := min(t.end.Sub(began), helmNamespaceTime-t.spent[r.namespace])
	if left <= 0 {
		return releaseRecord{unread: outOfTime}, nil
	}
	reading, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	record, err := cache.read(reading, c, r)
	t.spent[r.namespace] += t.now().Sub(began)
	if err != nil && reading.Err() != nil && ctx.Err() == nil {
		return releaseRecord{unread: outOfTime}, nil
	}
	return record, err
}

// outOfTime is why a record is not read.
const outOfTime = "there was no time to read it among the others: try again, or remove the records that are not Helm's"

// list lists the recorded revisions of all releases. Those of one namespace are listed first and by themselves,
// completely or with an error. unlisted is why others are missing; "" if none is.
func (t *helmTimes) list(ctx context.Context, c *client, namespace string) (all []release, unlisted string, err error) {
	if namespace != "" {
		all, err = t.listBelow(ctx, c, "/api/v1/namespaces/"+namespace+"/secrets")
		if err != nil {
			return nil, "", err
		}
	}
	others, err := t.listBelow(ctx, c, "/api/v1/secrets")
	if isOverload(err) {
		unlisted, err = c.explainList(err), nil
	}
	for i := range others {
		if others[i].namespace != namespace {
			all = append(all, others[i])
		}
	}
	return all, unlisted, err
}

// isOverload reports whether an error of a list is one that the number and the size of its objects can cause.
func isOverload(err error) bool {
	_, tooLarge := errors.AsType[*httpclient.TooLarge](err)
	_, late := errors.AsType[*httpclient.Timeout](err)
	code := httpclient.Code(err)
	return tooLarge || late || errors.Is(err, errUnlisted) || code == http.StatusTooManyRequests || code == http.StatusGone || code >= http.StatusInternalServerError
}

// errUnlisted is the error of a list that is too long.
var errUnlisted = errors.New("there are too many to list them in time: remove the records that are not Helm's")

func (c *client) explainList(err error) string {
	if errors.Is(err, errUnlisted) {
		return err.Error()
	}
	return c.explain(err)
}

// listBelow lists the recorded revisions below a path. With an error, it returns those before it.
func (t *helmTimes) listBelow(ctx context.Context, c *client, path string) (all []release, err error) {
	began := t.now()
	listing, cancel := context.WithTimeout(ctx, helmListTime)
	defer cancel()
	err = c.each(listing, path, url.Values{"fieldSelector": {"type=" + releaseType}}, onlyMetadata, func(record model.Value) error {
		if len(all) == maxReleases || t.now().Sub(began) >= helmListTime {
			return errUnlisted
		}
		all = append(all, releaseOf(record))
		return nil
	})
	if err != nil && listing.Err() != nil && ctx.Err() == nil {
		err = errUnlisted
	}
	return all, err
}

// releaseOf returns the release of a record.
func releaseOf(record model.Value) release {
	metadata := record.At("metadata")
	r := release{secret: metadata.At("name").Str(), namespace: metadata.At("namespace").Str(), version: metadata.At("resourceVersion").Str(),
		deployed: metadata.At("labels", "status").Str() == "deployed"}
	revision := ""
	r.name = strings.TrimPrefix(r.secret, releasePrefix)
	if i := strings.LastIndex(r.name, ".v"); i >= 0 {
		r.name, revision = r.name[:i], r.name[i+2:]
	}
	n, err := strconv.Atoi(revision)
	if err != nil {
		// It is not named by Helm, and may be anything.
		r.deployed = true
	}
	r.revision = n
	return r
}

// current returns the last revision of each release, and those that are deployed. Those in one namespace
// are the first.
func current(all []release, namespace string) []release {
	last := map[[2]string]int{}
	for i := range all {
		key := [2]string{all[i].namespace, all[i].name}
		last[key] = max(last[key], all[i].revision)
	}
	all = slices.DeleteFunc(all, func(r release) bool {
		return !r.deployed && r.revision < last[[2]string{r.namespace, r.name}]
	})
	rank := func(r release) int {
		if r.namespace == namespace {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b release) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}
