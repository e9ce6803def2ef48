package normalize

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func kind(t testing.TB, name string) *Kind {
	t.Helper()
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	t.Fatalf("no kind %s", name)
	return nil
}

func TestDecode(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ reason, kind, answer, want string }{
		"tags": {"tags are a map", Bucket, `<?xml version="1.0"?><Tagging><TagSet><Tag><Key>a</Key><Value>1</Value></Tag><Tag><Value/><Key>b</Key></Tag></TagSet></Tagging>`, `{"Tags":{"a":"1","b":""}}`},
		"rule": {"days, dates and storage classes stand where CloudFormation has them", Lifecycle,
			`<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Rule><ID>a</ID><Filter><And><Prefix>x/</Prefix><Tag><Key>k</Key><Value>v</Value></Tag></And></Filter><Status>Enabled</Status><Expiration><Days>30</Days></Expiration><Transition><Days>0</Days><StorageClass>GLACIER</StorageClass></Transition></Rule></LifecycleConfiguration>`,
			`{"Rules":[{"ExpirationInDays":30,"Filter":{"And":{"Prefix":"x/","Tags":{"k":"v"}}},"Id":"a","Status":"Enabled","Transitions":[{"StorageClass":"GLACIER","TransitionInDays":0}]}]}`},
		"notice": {"a filter is a map, whatever the case of its names", Notification,
			`<NotificationConfiguration><QueueConfiguration><Queue>q</Queue><Event>e1</Event><Event>e2</Event><Filter><S3Key><FilterRule><Name>Prefix</Name><Value>in/</Value></FilterRule></S3Key></Filter></QueueConfiguration><EventBridgeConfiguration/></NotificationConfiguration>`,
			`{"EventBridgeEnabled":true,"QueueConfigurations":[{"Events":["e1","e2"],"Filter":{"prefix":"in/"},"Queue":"q"}]}`},
		"nothing": {"an empty element says nothing", Versioning, `<VersioningConfiguration><Status></Status></VersioningConfiguration>`, `{}`},
		"unknown": {"what is not known does not count", RequestPayment, `<RequestPaymentConfiguration><Payer>Requester</Payer><New><Payer>x</Payer></New></RequestPaymentConfiguration>`, `{"Payer":"Requester"}`},
		"policy":  {"a policy is a tree", BucketPolicy, `{"Statement":[{"Effect":"Deny"}]}`, `{"PolicyDocument":{"Statement":[{"Effect":"Deny"}]}}`},
		"number":  {"a number that is none is refused", Lifecycle, `<LifecycleConfiguration><Rule><Expiration><Days>many</Days></Expiration></Rule></LifecycleConfiguration>`, "read Rule: read Days: it is no number"},
		"flag":    {"so is a flag that is none", PublicAccess, `<PublicAccessBlockConfiguration><BlockPublicAcls>maybe</BlockPublicAcls></PublicAccessBlockConfiguration>`, "neither true nor false"},
		"behind":  {"nothing stands behind the answer", Versioning, `<VersioningConfiguration/><x/>`, "behind"},
		"deep":    {"no answer is that deep", Versioning, strings.Repeat("<a>", 1000), "too deep"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := kind(t, test.kind).Decode([]byte(test.answer))
			got := string(v.AppendJSON(nil))
			if err != nil {
				got = err.Error()
			}
			if err != nil && !strings.Contains(got, test.want) || err == nil && got != test.want {
				t.Errorf("%s: got %s, want %s", test.reason, got, test.want)
			}
		})
	}
}

// TestSchemasKnowWhatIsRead holds the schema of each kind to the fields that its
// rules look at.
func TestSchemasKnowWhatIsRead(t *testing.T) {
	t.Parallel()
	schemas := Schemas()
	known := func(k *Kind, path string) {
		s := schemas[k.Name].Schema
		for name := range strings.SplitSeq(path, ".") {
			if s.Each != nil && len(s.Each.Fields) > 0 {
				s = s.Each
			}
			if s = s.Fields[name]; s == nil {
				t.Errorf("%s has no field %s", k.Name, path)
				return
			}
		}
	}
	for _, k := range Kinds() {
		for _, r := range k.rates {
			if r.Reason == "" {
				t.Errorf("%s has a rule without a reason", k.Name)
			}
			if r.Path != "" {
				known(k, r.Path)
			}
			for _, c := range r.Where {
				known(k, c.Path)
			}
		}
		for _, u := range k.usual {
			for _, c := range u.where {
				known(k, c.Path)
			}
		}
	}
}

func TestLetsAllIn(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, statement string
		want              bool
	}{
		"star":      {"anybody", `{"Effect":"Allow","Principal":"*"}`, true},
		"aws":       {"anybody, written otherwise", `[{"Effect":"Deny","Principal":"*"},{"Effect":"Allow","Principal":{"AWS":"*"}}]`, true},
		"list":      {"anybody among others", `{"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::1:root","*"]}}`, true},
		"others":    {"anybody but one", `{"Effect":"Allow","NotPrincipal":{"AWS":"arn:aws:iam::1:root"}}`, true},
		"one":       {"one account", `{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::1:root"}}`, false},
		"condition": {"anybody who comes from somewhere", `{"Effect":"Allow","Principal":"*","Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}}`, false},
		"deny":      {"nobody", `{"Effect":"Deny","Principal":"*"}`, false},
		"service":   {"a service", `{"Effect":"Allow","Principal":{"Service":"logging.s3.amazonaws.com"}}`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy, err := kind(t, BucketPolicy).Decode([]byte(`{"Statement":` + test.statement + `}`))
			if err != nil || letsAllIn(policy) != test.want {
				t.Errorf("%s: %t, error %v", test.reason, !test.want, err)
			}
		})
	}
}

// TestResources holds what is made of one bucket.
func TestResources(t *testing.T) {
	t.Parallel()
	text := model.StringOf
	grant := func(who, permission string) model.Value {
		return model.MapOf(model.Field{Name: "Grantee", Value: model.MapOf(model.Field{Name: "URI", Value: text(who)})}, model.Field{Name: "Permission", Value: text(permission)})
	}
	owner := model.MapOf(model.Field{Name: "ID", Value: text("abc")})
	r := Read{Name: "logs", Parts: map[string]model.Value{
		Bucket: model.MapOf(model.Field{Name: "Tags", Value: model.MapOf(model.Field{Name: "aws:cloudformation:stack-name", Value: text("x")}, model.Field{Name: "team", Value: text("data")})}),
		AccessControl: model.MapOf(model.Field{Name: "Owner", Value: owner}, model.Field{Name: "Grants", Value: model.ListOf(
			grant(allUsers, "READ"), model.MapOf(model.Field{Name: "Grantee", Value: owner}, model.Field{Name: "Permission", Value: text("FULL_CONTROL")}))}),
		ObjectLock: model.MapOf(model.Field{Name: "ObjectLockEnabled", Value: text("Enabled")}),
		Versioning: model.MapOf(model.Field{Name: "Status", Value: text("Enabled")}),
	}}
	got := map[string]string{}
	for _, resource := range r.Resources("s3") {
		got[resource.Kind] = string(resource.Value.AppendJSON(nil)) + " " + resource.SystemOwned
	}
	want := map[string]string{
		Bucket:        `{"BucketName":"logs","Public":["acl"],"Tags":{"team":"data"}} `,
		AccessControl: `{"AccessControl":"PublicRead","Grantees":[{"ID":"abc","Permissions":["FULL_CONTROL"]},{"Permissions":["READ"],"URI":"` + allUsers + `"}],"Grants":[{"Grantee":{"ID":"abc"},"Permission":"FULL_CONTROL"},{"Grantee":{"URI":"` + allUsers + `"},"Permission":"READ"}],"Owner":{"ID":"abc"},"Public":true} `,
		ObjectLock:    `{"ObjectLockEnabled":"Enabled"} it holds no rule beside the lock that the bucket was made with`,
		Versioning:    `{"Locked":true,"Status":"Enabled"} object lock keeps every version`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(0, []byte(`<Tagging><TagSet><Tag><Key>a</Key><Value>1</Value></Tag></TagSet></Tagging>`))
	f.Add(1, []byte(`{"Statement":[{"Effect":"Allow","Principal":{"AWS":"*"}}]}`))
	f.Add(7, []byte(`<LifecycleConfiguration><Rule><Filter><And><Prefix>x</Prefix></And></Filter><Expiration><Days>3</Days></Expiration></Rule></LifecycleConfiguration>`))
	f.Add(6, []byte(`<AccessControlPolicy><Owner><ID>a</ID></Owner><AccessControlList><Grant><Grantee><ID>a</ID></Grantee><Permission>READ</Permission></Grant></AccessControlList></AccessControlPolicy>`))
	f.Add(3, []byte(`<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>`))
	kinds := Kinds()
	f.Fuzz(func(t *testing.T, which int, body []byte) {
		k := kinds[uint(which)%uint(len(kinds))]
		v, err := k.Decode(body)
		if err != nil {
			return
		}
		if v.Kind() != model.Map {
			t.Errorf("%s is no map: %s", k.Name, v.AppendJSON(nil))
		}
		for _, r := range (Read{Name: "b", Parts: map[string]model.Value{k.Name: v}}).Resources("s") {
			if r.Kind != k.Name || r.ID != "b" {
				t.Errorf("%s became %s", k.Name, r.Key)
			}
		}
	})
}

func FuzzDecodePage(f *testing.F) {
	f.Add([]byte(`<ListAllMyBucketsResult><Buckets><Bucket><Name>a</Name><CreationDate>2024-05-01T10:00:00.000Z</CreationDate></Bucket></Buckets></ListAllMyBucketsResult>`))
	f.Add([]byte(`<Error><Code>AccessDenied</Code></Error>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		page, err := DecodePage(body)
		for _, b := range page.Buckets {
			if b.Name == "" || err != nil {
				t.Errorf("a bucket without a name, or beside error %v", err)
			}
		}
		DecodeError(body)
	})
}

// TestCrowdedAnswers holds that the time an answer takes grows with its size and no
// faster, and that one with more than S3 ever says is refused.
func TestCrowdedAnswers(t *testing.T) {
	t.Parallel()
	const many = 8_000
	var tags, grants strings.Builder
	for i := range many {
		fmt.Fprintf(&tags, "<Tag><Key>%d</Key><Value/></Tag>", i*7919%many)
		fmt.Fprintf(&grants, "<Grant><Grantee><ID>%d</ID></Grantee><Permission>READ</Permission></Grant>", i*7919%many)
	}
	parts := map[string]model.Value{}
	for kind, body := range map[string]string{
		Bucket:        "<Tagging><TagSet>" + tags.String() + "</TagSet></Tagging>",
		AccessControl: "<AccessControlPolicy><AccessControlList>" + grants.String() + "</AccessControlList></AccessControlPolicy>",
	} {
		i := slices.IndexFunc(Kinds(), func(k *Kind) bool { return k.Name == kind })
		v, err := Kinds()[i].Decode([]byte(body))
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		parts[kind] = v
	}
	for _, r := range (Read{Name: "b", Parts: parts}).Resources("s") {
		if n := len(r.Value.At("Tags").Fields()) + len(r.Value.At("Grantees").Items()); n != many {
			t.Errorf("%s has %d, want %d", r.Kind, n, many)
		}
	}
	_, err := Kinds()[0].Decode([]byte("<Tagging>" + strings.Repeat("<a/>", maxElements) + "</Tagging>"))
	if !errors.As(err, new(*NotAnswerError)) {
		t.Errorf("a crowd of elements gives %v", err)
	}
}

func TestListWithoutBuckets(t *testing.T) {
	t.Parallel()
	if _, err := DecodePage([]byte(`<ListAllMyBucketsResult/>`)); !errors.As(err, new(*NotAnswerError)) {
		t.Errorf("an answer that has no list gives %v", err)
	}
	if page, err := DecodePage([]byte(`<ListAllMyBucketsResult><Buckets/></ListAllMyBucketsResult>`)); err != nil || page.Buckets != nil {
		t.Errorf("an empty list gives %v, %v", page, err)
	}
}
