package aws

import (
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws/cloudtrail"
)

const namespace = `xmlns="http://s3.amazonaws.com/doc/2006-03-01/"`

// A store is a fake S3 server. It answers an unknown request with 400.
type store struct {
	// buckets has the answers for each bucket, by subresource: the body of a success, or an error
	// as "!404 NoSuchX".
	buckets map[string]map[string]string
	// regions are the regions of buckets outside us-east-1.
	regions map[string]string
	// pageSize is the number of buckets in a page; 0 for no limit.
	pageSize int
	order    *rand.Rand
}

// defaults returns the answers for a bucket without any configuration.
func defaults() map[string]string {
	return map[string]string{
		"tagging": "!404 NoSuchTagSet", "policy": "!404 NoSuchBucketPolicy", "versioning": `<VersioningConfiguration ` + namespace + `/>`,
		"encryption":        `<ServerSideEncryptionConfiguration ` + namespace + `><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault><BucketKeyEnabled>false</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>`,
		"publicAccessBlock": block("true"),
		"ownershipControls": `<OwnershipControls ` + namespace + `><Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule></OwnershipControls>`,
		"acl":               acl(""), "lifecycle": "!404 NoSuchLifecycleConfiguration", "cors": "!404 NoSuchCORSConfiguration",
		"logging": `<BucketLoggingStatus ` + namespace + `/>`, "object-lock": "!404 ObjectLockConfigurationNotFoundError",
		"website": "!404 NoSuchWebsiteConfiguration", "accelerate": `<AccelerateConfiguration ` + namespace + `/>`,
		"requestPayment": `<RequestPaymentConfiguration ` + namespace + `><Payer>BucketOwner</Payer></RequestPaymentConfiguration>`,
		"notification":   `<NotificationConfiguration ` + namespace + `/>`,
	}
}

func block(each string) string {
	return `<PublicAccessBlockConfiguration ` + namespace + `><BlockPublicAcls>` + each + `</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>`
}

func acl(more string) string {
	return `<AccessControlPolicy ` + namespace + `><Owner><ID>abc</ID></Owner><AccessControlList><Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"><ID>abc</ID></Grantee><Permission>FULL_CONTROL</Permission></Grant>` + more + `</AccessControlList></AccessControlPolicy>`
}

// newStore returns a store with buckets that have no configuration.
func newStore(names ...string) *store {
	s := &store{buckets: map[string]map[string]string{}, regions: map[string]string{}, order: rand.New(rand.NewPCG(1, 1))}
	for _, name := range names {
		s.buckets[name] = defaults()
	}
	return s
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.Trim(r.URL.Path, "/")
	region := strings.Split(r.Header.Get("Authorization"), "/")
	switch {
	case len(region) < 3 || r.Method != http.MethodGet:
		writeError(w, http.StatusForbidden, "AccessDenied")
	case name == "":
		s.list(w, r)
	case s.buckets[name] == nil:
		writeError(w, http.StatusNotFound, "NoSuchBucket")
	case s.regions[name] != "" && s.regions[name] != region[2]:
		w.Header().Set("X-Amz-Bucket-Region", s.regions[name])
		writeError(w, http.StatusMovedPermanently, "PermanentRedirect")
	default:
		s.answer(w, s.buckets[name], r)
	}
}

func (s *store) answer(w http.ResponseWriter, answers map[string]string, r *http.Request) {
	for subresource := range r.URL.Query() {
		text, known := answers[subresource]
		if !known {
			continue
		}
		if status, refused := strings.CutPrefix(text, "!"); refused {
			number, code, _ := strings.Cut(status, " ")
			n, _ := strconv.Atoi(number)
			writeError(w, n, code)
			return
		}
		fmt.Fprint(w, text)
		return
	}
	writeError(w, http.StatusBadRequest, "InvalidArgument")
}

func writeError(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>no</Message></Error>`, code)
}

// list answers ListBuckets. The order within a page is random.
func (s *store) list(w http.ResponseWriter, r *http.Request) {
	type listed struct {
		Name         string
		CreationDate string
	}
	var answer struct {
		XMLName           xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListAllMyBucketsResult"`
		Buckets           struct{ Bucket []listed }
		Owner             struct{ ID string }
		ContinuationToken string `xml:",omitempty"`
	}
	answer.Owner.ID = "abc"
	for name := range s.buckets {
		if name > r.URL.Query().Get("continuation-token") {
			answer.Buckets.Bucket = append(answer.Buckets.Bucket, listed{name, "2024-05-01T10:00:00.000Z"})
		}
	}
	all := answer.Buckets.Bucket
	slices.SortFunc(all, func(a, b listed) int { return strings.Compare(a.Name, b.Name) })
	if s.pageSize > 0 && len(all) > s.pageSize {
		answer.Buckets.Bucket, answer.ContinuationToken = all[:s.pageSize], all[s.pageSize-1].Name
	}
	s.order.Shuffle(len(answer.Buckets.Bucket), func(i, j int) {
		b := answer.Buckets.Bucket
		b[i], b[j] = b[j], b[i]
	})
	w.Header().Set("Server", "AmazonS3")
	// The client may have closed the connection.
	_ = xml.NewEncoder(w).Encode(answer)
}

// testConfig returns the settings for a store at a URL.
func testConfig(t *testing.T, url string) Config {
	t.Helper()
	c := Defaults()
	c.Endpoint, c.Region, c.PathStyle, c.Profile = url, "us-east-1", true, "test"
	c.CredentialsFile = file(t, "[test]\naws_access_key_id = AKIATEST\naws_secret_access_key = hunter2\n")
	c.ConfigFile = file(t, "[profile test]\n")
	return c
}

func testInventory(t *testing.T, c Config) *inventory {
	t.Helper()
	opened, err := open(collectors.Env{Name: "aws"}, c, &cloudtrail.Pace{})
	if err != nil {
		t.Fatal(err)
	}
	i, ok := opened.(*inventory)
	if !ok {
		t.Fatalf("open() = %T", opened)
	}
	i.backoff = 1
	return i
}
