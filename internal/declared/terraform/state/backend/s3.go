package backend

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"
)

// A bucket is a bucket of S3 or of a store that speaks its language. The SDK
// finds region and credentials and signs; the two requests are ours.
type bucket struct {
	settings S3
	name     string
	fetcher  *fetcher
	config   once[aws.Config]
}

func openS3(rest string, s Settings) (site, error) {
	name, key, _ := strings.Cut(rest, "/")
	if name == "" || strings.ContainsAny(name, "@?*:") || key == "" {
		return site{}, errors.New("want s3://bucket/key, without credentials")
	}
	b := &bucket{settings: s.S3, name: name}
	var err error
	if b.fetcher, err = newFetcher(s.S3.CAFile, b.sign); err != nil {
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
		forget: b.config.forget,
	}, nil
}

// load returns what the SDK found out.
func (b *bucket) load(ctx context.Context) (aws.Config, error) {
	return b.config.get(func() (aws.Config, error) {
		// What the SDK would print, its errors say.
		options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
		if b.settings.Region != "" {
			options = append(options, config.WithRegion(b.settings.Region))
		}
		if b.settings.Profile != "" {
			options = append(options, config.WithSharedConfigProfile(b.settings.Profile))
		}
		if b.settings.CredentialsFile != "" {
			options = append(options, config.WithSharedCredentialsFiles([]string{b.settings.CredentialsFile}))
		}
		if b.settings.ConfigFile != "" {
			options = append(options, config.WithSharedConfigFiles([]string{b.settings.ConfigFile}))
		}
		loaded, err := config.LoadDefaultConfig(ctx, options...)
		if err != nil {
			return loaded, fmt.Errorf("read the AWS configuration: %w", err)
		}
		loaded.BaseEndpoint = aws.String(cmp.Or(b.settings.Endpoint, aws.ToString(loaded.BaseEndpoint)))
		if loaded.Region == "" && *loaded.BaseEndpoint != "" {
			loaded.Region = "us-east-1" // what compatible stores expect
		}
		if loaded.Region == "" {
			return loaded, errors.New("no region is known; set backend.s3.region")
		}
		return loaded, nil
	})
}

func (b *bucket) sign(r *http.Request) error {
	loaded, err := b.load(r.Context())
	if err != nil {
		return err
	}
	credentials, err := loaded.Credentials.Retrieve(r.Context())
	if err != nil {
		return fmt.Errorf("find AWS credentials: %w; set backend.s3.profile or backend.s3.credentials_file", err)
	}
	const nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // SHA-256
	r.Header.Set("X-Amz-Content-Sha256", nothing)
	return v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }).
		SignHTTP(r.Context(), credentials, r, nothing, "s3", loaded.Region, time.Now())
}

// address returns the address of a key, or of the bucket for "".
func (b *bucket) address(ctx context.Context, key string, query url.Values) (*url.URL, error) {
	loaded, err := b.load(ctx)
	if err != nil {
		return nil, err
	}
	suffix := "amazonaws.com"
	if strings.HasPrefix(loaded.Region, "cn-") {
		suffix += ".cn"
	}
	endpoint, err := parseEndpoint(cmp.Or(*loaded.BaseEndpoint, "https://s3."+loaded.Region+"."+suffix))
	if err != nil {
		return nil, err
	}
	// A certificate for all buckets does not fit a name with dots.
	if b.settings.PathStyle || strings.Contains(b.name, ".") {
		return at(endpoint, "/"+b.name+"/"+escape(key), query)
	}
	endpoint.Host = b.name + "." + endpoint.Host
	return at(endpoint, "/"+escape(key), query)
}

func (b *bucket) open(ctx context.Context, key string) (io.ReadCloser, error) {
	u, err := b.address(ctx, key, nil)
	if err != nil {
		return nil, err
	}
	return b.fetcher.get(ctx, u)
}

// list asks by ListObjectsV2.
func (b *bucket) list(ctx context.Context, p pattern) ([]string, error) {
	return list(p, func(token string) (page, error) {
		query := url.Values{"list-type": {"2"}, "prefix": {p.prefix()}}
		if token != "" {
			query.Set("continuation-token", token)
		}
		u, err := b.address(ctx, "", query)
		if err != nil {
			return page{}, err
		}
		var answer struct {
			NextContinuationToken string
			Contents              []struct{ Key string }
		}
		if err := b.fetcher.decode(ctx, u, xml.Unmarshal, &answer); err != nil {
			return page{}, err
		}
		found := page{next: answer.NextContinuationToken}
		for _, c := range answer.Contents {
			found.names = append(found.names, c.Key)
		}
		return found, nil
	})
}
