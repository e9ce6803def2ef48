package backend_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/driftd/driftd/internal/declared/terraform/state/backend"
)

// keys returns the keys in the object stores of these tests. The content of each object is its key.
func keys() []string {
	return []string{"app/a.tfstate", "app/b.tfstate", "app/deep/c.tfstate", "app/notes.txt",
		"env:/prod/app/a.tfstate", "env:/test/app/a.tfstate", "odd key+100%&.tfstate", "prod/app/a.tfstate"}
}

// page returns at most two keys, beginning at a token, and the next token.
func page(prefix, token string) (found []string, next string) {
	for _, key := range keys() {
		if strings.HasPrefix(key, prefix) && key > token {
			found = append(found, key)
		}
	}
	if len(found) > 2 {
		return found[:2], found[1]
	}
	return found, ""
}

// s3 behaves like S3. It accepts signatures of keyID.
func s3(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !signed(r) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `<Error><Code>SignatureDoesNotMatch</Code><Message>hunter2</Message></Error>`)
			return
		}
		key := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/bucket.of"), "/")
		query := r.URL.Query()
		switch {
		case query.Get("list-type") == "2" && key == "":
			listed, next := page(query.Get("prefix"), query.Get("continuation-token"))
			answer := struct {
				XMLName               xml.Name `xml:"ListBucketResult"`
				Name                  string
				IsTruncated           bool
				NextContinuationToken string `xml:",omitempty"`
				Contents              []struct{ Key string }
			}{Name: "bucket.of", IsTruncated: next != "", NextContinuationToken: next}
			for _, k := range listed {
				answer.Contents = append(answer.Contents, struct{ Key string }{k})
			}
			if err := xml.NewEncoder(w).Encode(answer); err != nil {
				t.Error(err)
			}
		case slices.Contains(keys(), key):
			fmt.Fprint(w, key)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `<Error><Code>NoSuchKey</Code></Error>`)
		}
	}
}

// signed reports whether the SDK would create the same signature for the request.
func signed(r *http.Request) bool {
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		return false
	}
	again := r.Clone(r.Context())
	again.URL.Host, again.Host = r.Host, r.Host
	// The signature covers the path as it was sent.
	again.URL.Opaque = "//" + r.Host + strings.Split(r.RequestURI, "?")[0]
	again.Header = http.Header{}
	_, names, _ := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	names, _, _ = strings.Cut(names, ",")
	for name := range strings.SplitSeq(names, ";") {
		if values := r.Header.Values(name); name != "x-amz-date" && len(values) > 0 {
			again.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	err = v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }).SignHTTP(r.Context(),
		aws.Credentials{AccessKeyID: "AKIATEST", SecretAccessKey: "hunter2"}, again, r.Header.Get("X-Amz-Content-Sha256"), "s3", "eu-test-1", at)
	return err == nil && again.Header.Get("Authorization") == r.Header.Get("Authorization")
}

func s3Settings(t *testing.T, endpoint, secret string) backend.Settings {
	t.Helper()
	s := settings()
	s.S3.Endpoint, s.S3.Profile, s.S3.Region = endpoint, "test", "eu-test-1"
	s.S3.CredentialsFile = file(t, "[test]\naws_access_key_id = AKIATEST\naws_secret_access_key = "+secret+"\n")
	s.S3.ConfigFile = file(t, "[profile test]\n")
	return s
}

func TestS3(t *testing.T) {
	t.Parallel()
	store := serve(t, s3(t))
	cases := map[string]struct {
		reason     string
		key        string
		workspaces []string
		want       []string
	}{
		"Key":        {"a key", "app/a.tfstate", nil, []string{"app/a.tfstate"}},
		"Odd":        {"a key whose characters must be escaped", "odd key+100%&.tfstate", nil, []string{"odd key+100%&.tfstate"}},
		"Workspace":  {"a workspace", "app/a.tfstate", []string{"prod"}, []string{"env:/prod/app/a.tfstate"}},
		"Workspaces": {"all workspaces, with the default one", "app/a.tfstate", []string{"*"}, []string{"app/a.tfstate", "env:/prod/app/a.tfstate", "env:/test/app/a.tfstate"}},
		"Glob":       {"a pattern stays within a folder", "app/*.tfstate", nil, []string{"app/a.tfstate", "app/b.tfstate"}},
		"Deep":       {"two stars cross folders", "app/**.tfstate", nil, []string{"app/a.tfstate", "app/b.tfstate", "app/deep/c.tfstate"}},
		"Prefix":     {"a prefix", "app/", nil, []string{"app/a.tfstate", "app/b.tfstate", "app/deep/c.tfstate"}},
		"OneOf":      {"one character", "app/?.tfstate", nil, []string{"app/a.tfstate", "app/b.tfstate"}},
		"OddGlob":    {"a prefix whose characters must be escaped", "odd*", nil, []string{"odd key+100%&.tfstate"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := s3Settings(t, store.URL, "hunter2")
			s.Workspaces = tc.workspaces
			checkStates(t, tc.reason, open(t, "s3://bucket.of/"+tc.key, s), "s3://bucket.of/", named(tc.want), "")
		})
	}
}

func TestS3Errors(t *testing.T) {
	t.Parallel()
	store := serve(t, s3(t))
	answering := func(text string) func(*backend.Settings) {
		other := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
		return func(s *backend.Settings) { s.S3.Endpoint = other.URL }
	}
	cases := map[string]struct {
		reason string
		key    string
		change func(*backend.Settings)
		want   string
	}{
		"Absent":  {"no such key", "gone", func(*backend.Settings) {}, "read state s3://bucket.of/gone: there is no state; check the location"},
		"Nothing": {"no matching key", "gone/", func(*backend.Settings) {}, "list states s3://bucket.of/gone/**.tfstate: no state found"},
		"Denied":  {"a wrong key", "app/a.tfstate", func(s *backend.Settings) { *s = s3Settings(t, store.URL, "other") }, "403 Forbidden (SignatureDoesNotMatch); grant s3:GetObject"},
		"NoFile": {"no credentials", "app/a.tfstate", func(s *backend.Settings) {
			s.S3.CredentialsFile = file(t, "")
			s.S3.ConfigFile = file(t, "[profile test]\ncredential_process = false\n")
		}, "backend.s3.profile"},
		"NoListing": {"a response in HTML", "app/", answering("<html>hunter2</html>"), "app/**.tfstate: the response is not the expected document"},
		"NoXML":     {"a response that is not XML", "app/", answering("hunter2"), "app/**.tfstate: the response is not the expected document"},
		"BreaksOff": {"a truncated listing without a token", "app/",
			answering("<ListBucketResult><Name>bucket.of</Name><IsTruncated>true</IsTruncated></ListBucketResult>"), "the response is not the expected document"},
		"Endpoint": {"an invalid endpoint", "app/a.tfstate", func(s *backend.Settings) { s.S3.Endpoint = "minio:9000" }, "endpoint: want http(s)://host:port"},
		"Down":     {"no server", "app/a.tfstate", func(s *backend.Settings) { s.S3.Endpoint = "http://127.0.0.1:1" }, "check the address, and that the server runs"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := s3Settings(t, store.URL, "hunter2")
			tc.change(&s)
			_, err := all(t.Context(), open(t, "s3://bucket.of/"+tc.key, s))
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

// TestS3RotatedKey checks that credentials are read again after they were refused.
func TestS3RotatedKey(t *testing.T) {
	t.Parallel()
	store := serve(t, s3(t))
	s := s3Settings(t, store.URL, "old")
	source := open(t, "s3://bucket.of/app/a.tfstate", s)
	if _, err := all(t.Context(), source); err == nil {
		t.Fatal("the old key was accepted")
	}
	overwrite(t, s.S3.CredentialsFile, "[test]\naws_access_key_id = AKIATEST\naws_secret_access_key = hunter2\n")
	if _, err := all(t.Context(), source); err != nil {
		t.Errorf("with the new key: %v", err)
	}
}

// TestS3LateCredentials checks that credentials are found that did not exist at the first attempt.
func TestS3LateCredentials(t *testing.T) {
	t.Parallel()
	store := serve(t, s3(t))
	s := s3Settings(t, store.URL, "hunter2")
	overwrite(t, s.S3.CredentialsFile, "")
	overwrite(t, s.S3.ConfigFile, "[profile test]\ncredential_process = false\n")
	source := open(t, "s3://bucket.of/app/a.tfstate", s)
	if _, err := all(t.Context(), source); err == nil {
		t.Fatal("a request without credentials was accepted")
	}
	overwrite(t, s.S3.CredentialsFile, "[test]\naws_access_key_id = AKIATEST\naws_secret_access_key = hunter2\n")
	if _, err := all(t.Context(), source); err != nil {
		t.Errorf("with credentials: %v", err)
	}
}

// TestS3Checksum checks that an object is refused if its checksum does not match its content.
func TestS3Checksum(t *testing.T) {
	t.Parallel()
	const content = "app/a.tfstate"
	for name, tc := range map[string]struct {
		reason string
		of     string
		ok     bool
	}{
		"Right": {"the checksum of the content", content, true},
		"Wrong": {"the checksum of another content", "app/b.tfstate", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Amz-Checksum-Mode") != "ENABLED" {
					t.Error("no checksum was requested")
				}
				sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(tc.of)))
				w.Header().Set("X-Amz-Checksum-Crc32", base64.StdEncoding.EncodeToString(sum))
				fmt.Fprint(w, content)
			})
			_, err := all(t.Context(), open(t, "s3://bucket.of/app/a.tfstate", s3Settings(t, store.URL, "hunter2")))
			if (err == nil) != tc.ok {
				t.Errorf("%s: got %v", tc.reason, err)
			}
		})
	}
}

// TestS3EndpointVariable checks that the variable of the AWS SDKs for an endpoint is used.
func TestS3EndpointVariable(t *testing.T) {
	store := serve(t, s3(t))
	t.Setenv("AWS_ENDPOINT_URL_S3", store.URL)
	s := s3Settings(t, "", "hunter2")
	got, err := all(t.Context(), open(t, "s3://bucket.of/app/a.tfstate", s))
	if want := []string{"s3://bucket.of/app/a.tfstate: app/a.tfstate"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
