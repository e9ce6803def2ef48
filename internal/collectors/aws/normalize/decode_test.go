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
		"rule": {"days, dates and storage classes have their CloudFormation names", Lifecycle,
			`<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Rule><ID>a</ID><Filter><And><Prefix>x/</Prefix><Tag><Key>k</Key><Value>v</Value></Tag></And></Filter><Status>Enabled</Status><Expiration><Days>30</Days></Expiration><Transition><Days>0</Days><StorageClass>GLACIER</StorageClass></Transition></Rule></LifecycleConfiguration>`,
			`{"Rules":[{"ExpirationInDays":30,"Filter":{"And":{"Prefix":"x/","Tags":{"k":"v"}}},"Id":"a","Status":"Enabled","Transitions":[{"StorageClass":"GLACIER","TransitionInDays":0}]}]}`},
		"notice": {"the names of a filter are in lower case", Notification,
			`<NotificationConfiguration><QueueConfiguration><Queue>q</Queue><Event>e1</Event><Event>e2</Event><Filter><S3Key><FilterRule><Name>Prefix</Name><Value>in/</Value></FilterRule></S3Key></Filter></QueueConfiguration><EventBridgeConfiguration/></NotificationConfiguration>`,
			`{"EventBridgeEnabled":true,"QueueConfigurations":[{"Events":["e1","e2"],"Filter":{"prefix":"in/"},"Queue":"q"}]}`},
		"nothing": {"an empty element is left out", Versioning, `<VersioningConfiguration><Status></Status></VersioningConfiguration>`, `{}`},
		"unknown": {"unknown elements are ignored", RequestPayment, `<RequestPaymentConfiguration><Payer>Requester</Payer><New><Payer>x</Payer></New></RequestPaymentConfiguration>`, `{"Payer":"Requester"}`},
		"policy":  {"a policy keeps its JSON", BucketPolicy, `{"Statement":[{"Effect":"Deny"}]}`, `{"PolicyDocument":{"Statement":[{"Effect":"Deny"}]}}`},
		"number":  {"an invalid number is refused", Lifecycle, `<LifecycleConfiguration><Rule><Expiration><Days>many</Days></Expiration></Rule></LifecycleConfiguration>`, "read Rule: read Days: it is not a number"},
		"flag":    {"an invalid boolean is refused", PublicAccess, `<PublicAccessBlockConfiguration><BlockPublicAcls>maybe</BlockPublicAcls></PublicAccessBlockConfiguration>`, "neither true nor false"},
		"behind":  {"content after the document is refused", Versioning, `<VersioningConfiguration/><x/>`, "content after the document"},
		"deep":    {"deep nesting is refused", Versioning, strings.Repeat("<a>", 1000), "too deeply"},
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

// TestSchemasHaveRuleFields checks that the schema of each kind has the fields that its rules
// use.
func TestSchemasHaveRuleFields(t *testing.T) {
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
		for _, r := range k.severities {
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
		for _, u := range k.defaults {
			for _, c := range u.where {
				known(k, c.Path)
			}
		}
	}
}

// TestPublicPolicy checks that a bucket and its policy are public if the policy is open to everyone.
func TestPublicPolicy(t *testing.T) {
	t.Parallel()
	for principal, want := range map[string]bool{`"*"`: true, `{"AWS":"arn:aws:iam::1:root"}`: false} {
		policy, err := kind(t, BucketPolicy).Decode([]byte(`{"Statement":{"Effect":"Allow","Principal":` + principal + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range (BucketParts{Name: "logs", Parts: map[string]model.Value{Bucket: model.MapOf(), BucketPolicy: policy}}).Resources("s3") {
			if got := !r.Value.At("Public").IsNull(); got != want {
				t.Errorf("%s: %s is public: %t", principal, r.Kind, got)
			}
		}
	}
}

// TestResources checks the resources of one bucket.
func TestResources(t *testing.T) {
	t.Parallel()
	text := model.StringOf
	grant := func(grantee, permission string) model.Value {
		return model.MapOf(model.Field{Name: "Grantee", Value: model.MapOf(model.Field{Name: "URI", Value: text(grantee)})}, model.Field{Name: "Permission", Value: text(permission)})
	}
	owner := model.MapOf(model.Field{Name: "ID", Value: text("abc")})
	r := BucketParts{Name: "logs", Parts: map[string]model.Value{
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
		ObjectLock:    `{"ObjectLockEnabled":"Enabled"} it has no rule, only the lock that was set when the bucket was created`,
		Versioning:    `{"Locked":true,"Status":"Enabled"} object lock requires versioning`,
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
			t.Errorf("%s is not a map: %s", k.Name, v.AppendJSON(nil))
		}
		for _, r := range (BucketParts{Name: "b", Parts: map[string]model.Value{k.Name: v}}).Resources("s") {
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
				t.Errorf("a bucket without a name, or together with error %v", err)
			}
		}
		DecodeError(body)
	})
}

// TestLargeAnswers checks that many elements are decoded in linear time, and that an answer
// with more than maxElements is refused.
func TestLargeAnswers(t *testing.T) {
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
	for _, r := range (BucketParts{Name: "b", Parts: parts}).Resources("s") {
		if n := len(r.Value.At("Tags").Fields()) + len(r.Value.At("Grantees").Items()); n != many {
			t.Errorf("%s has %d, want %d", r.Kind, n, many)
		}
	}
	_, err := Kinds()[0].Decode([]byte("<Tagging>" + strings.Repeat("<a/>", maxElements) + "</Tagging>"))
	if !errors.As(err, new(*UnexpectedAnswerError)) {
		t.Errorf("too many elements: error %v", err)
	}
}

func TestListWithoutBuckets(t *testing.T) {
	t.Parallel()
	if _, err := DecodePage([]byte(`<ListAllMyBucketsResult/>`)); !errors.As(err, new(*UnexpectedAnswerError)) {
		t.Errorf("an answer without a list: error %v", err)
	}
	if page, err := DecodePage([]byte(`<ListAllMyBucketsResult><Buckets/></ListAllMyBucketsResult>`)); err != nil || page.Buckets != nil {
		t.Errorf("an empty list: %v, error %v", page, err)
	}
}
