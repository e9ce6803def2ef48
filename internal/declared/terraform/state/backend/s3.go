package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/driftd/driftd/internal/awsconfig"
	"github.com/driftd/driftd/internal/httpclient"
)

// A bucket is a bucket of S3 or of a compatible store. The SDK finds the region, the credentials
// and the endpoint, signs requests, and verifies the checksums of objects. The fetcher sends the
// requests.
type bucket struct {
	settings S3
	name     string
	fetcher  *fetcher
	client   once[*s3.Client]
}

func openS3(rest string, s Settings) (site, error) {
	name, key, _ := strings.Cut(rest, "/")
	// The SDK also accepts an ARN as a bucket, and would then send the request to another endpoint
	// than the configured one.
	if name == "" || strings.ContainsAny(name, "@?*:") || key == "" {
		return site{}, errors.New("want s3://bucket/key, without credentials")
	}
	b := &bucket{settings: s.S3, name: name}
	var err error
	if b.fetcher, err = newFetcher(s.S3.CAFile, nil); err != nil {
		return site{}, err
	}
	named := func(workspace string) string {
		if workspace == defaultWorkspace {
			return below(key)
		}
		return path.Join(s.S3.WorkspacePrefix, workspace) + "/" + below(key)
	}
	return site{
		place: b, root: "s3://" + name + "/", name: named,
		access: "grant s3:GetObject and s3:ListBucket to the credentials; set backend.s3.profile or backend.s3.credentials_file",
		forget: b.client.forget,
	}, nil
}

// connect returns an SDK client that has credentials.
func (b *bucket) connect(ctx context.Context) (*s3.Client, error) {
	client, err := b.client.get(func() (*s3.Client, error) {
		if b.settings.Endpoint != "" {
			if _, err := parseEndpoint(b.settings.Endpoint); err != nil {
				return nil, err
			}
		}
		loaded, err := awsconfig.Load(ctx, awsconfig.Options{
			Region: b.settings.Region, Profile: b.settings.Profile, Endpoint: b.settings.Endpoint,
			CredentialsFile: b.settings.CredentialsFile, ConfigFile: b.settings.ConfigFile,
		})
		if err != nil {
			return nil, err
		}
		if loaded.Region == "" {
			return nil, errors.New("no region found; set backend.s3.region")
		}
		return s3.NewFromConfig(loaded, func(o *s3.Options) {
			o.HTTPClient, o.Retryer, o.UsePathStyle = b.fetcher, aws.NopRetryer{}, b.settings.PathStyle
			o.DisableS3ExpressSessionAuth = aws.Bool(true)
		}), nil
	})
	if err != nil {
		return nil, err
	}
	if _, err := client.Options().Credentials.Retrieve(ctx); err != nil {
		b.client.forget()
		return nil, fmt.Errorf("find AWS credentials: %w; set backend.s3.profile or backend.s3.credentials_file", err)
	}
	return client, nil
}

// A whole sends requests and reads their bounded responses into memory.
type whole struct{ *fetcher }

// Do sends a request. It returns an error for an unsuccessful response.
func (w whole) Do(r *http.Request) (*http.Response, error) {
	answer, err := w.fetcher.Do(r)
	if err != nil {
		return nil, err
	}
	content, err := readAll(answer.Body)
	answer.Body = io.NopCloser(bytes.NewReader(content))
	return answer, err
}

// explain returns the error of a request without the text that the SDK adds, such as the URL of the
// request.
func explain(err error) error {
	var sending *smithyhttp.RequestSendError
	var decoding *smithy.DeserializationError
	switch {
	case errors.As(err, &sending):
		return httpclient.WithoutURL(sending.Err)
	case errors.As(err, &decoding):
		return errUnexpected
	}
	return err
}

func (b *bucket) open(ctx context.Context, key string) (io.ReadCloser, error) {
	client, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	object, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return nil, explain(err)
	}
	return object.Body, nil
}

func (b *bucket) list(ctx context.Context, p pattern) ([]string, error) {
	client, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	return list(p, func(token string) (page, error) {
		input := &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: aws.String(p.prefix())}
		if token != "" {
			input.ContinuationToken = &token
		}
		listing, err := client.ListObjectsV2(ctx, input, func(o *s3.Options) { o.HTTPClient = whole{b.fetcher} })
		if err != nil {
			return page{}, explain(err)
		}
		// The SDK parses any XML as a listing. These elements are in each real one.
		next := aws.ToString(listing.NextContinuationToken)
		if listing.Name == nil || listing.IsTruncated == nil || *listing.IsTruncated != (next != "") {
			return page{}, errUnexpected
		}
		found := page{next: next}
		for _, object := range listing.Contents {
			found.names = append(found.names, aws.ToString(object.Key))
		}
		return found, nil
	})
}
