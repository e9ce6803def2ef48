package backend

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/driftd/driftd/internal/credential"
)

// A container is a container of Azure Blob Storage. The SDK only finds the credentials of an
// identity; the fetcher sends the two kinds of requests.
type container struct {
	settings      Azure
	account, name string
	endpoint      *url.URL
	fetcher       *fetcher
	identity      once[azcore.TokenCredential]
	now           func() time.Time
}

func openAzure(rest string, s Settings) (site, error) {
	account, rest, _ := strings.Cut(rest, "/")
	name, key, _ := strings.Cut(rest, "/")
	if account == "" || strings.ContainsAny(account+name, "@?*:") || name == "" || key == "" {
		return site{}, errors.New("want azurerm://account/container/key, without credentials")
	}
	endpoint, err := parseEndpoint(cmp.Or(s.Azure.Endpoint, "https://"+account+".blob.core.windows.net"))
	if err != nil {
		return site{}, err
	}
	c := &container{settings: s.Azure, account: account, name: name, endpoint: endpoint, now: time.Now}
	if c.fetcher, err = newFetcher("", c.sign); err != nil {
		return site{}, err
	}
	named := func(workspace string) string {
		if workspace == defaultWorkspace {
			return below(key)
		}
		return key + "env:" + workspace
	}
	return site{
		place: c, root: "azurerm://" + account + "/" + name + "/", name: named,
		access: "grant Storage Blob Data Reader; or set backend.azurerm.account_key_file or backend.azurerm.sas_token_file",
		forget: c.identity.forget,
	}, nil
}

// sign adds one of the three kinds of credentials to a request.
func (c *container) sign(r *http.Request) error {
	if err := checkSecure(r.URL); err != nil {
		return err
	}
	r.Header.Set("X-Ms-Version", "2021-12-02")
	r.Header.Set("X-Ms-Date", c.now().UTC().Format(http.TimeFormat))
	switch {
	case c.settings.AccountKeyFile != "":
		return c.signByKey(r)
	case c.settings.SASTokenFile != "":
		token, err := credential.Read(c.settings.SASTokenFile)
		signed := *r.URL
		signed.RawQuery = strings.Trim(signed.RawQuery+"&"+strings.TrimPrefix(token, "?"), "&")
		r.URL = &signed
		return err
	}
	return c.signByIdentity(r)
}

// signByKey signs a request without a body whose only headers are set here, as in
// https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key.
func (c *container) signByKey(r *http.Request) error {
	text, err := credential.Read(c.settings.AccountKeyFile)
	if err != nil {
		return err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return fmt.Errorf("read %s: not an account key", c.settings.AccountKeyFile)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s", r.Method, strings.Repeat("\n", 12))
	fmt.Fprintf(&b, "x-ms-date:%s\nx-ms-version:%s\n", r.Header.Get("X-Ms-Date"), r.Header.Get("X-Ms-Version"))
	fmt.Fprintf(&b, "/%s%s", c.account, r.URL.EscapedPath())
	query := r.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		fmt.Fprintf(&b, "\n%s:%s", strings.ToLower(name), strings.Join(query[name], ","))
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(b.String()))
	r.Header.Set("Authorization", "SharedKey "+c.account+":"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return nil
}

func (c *container) signByIdentity(r *http.Request) error {
	identity, err := c.identity.get(func() (azcore.TokenCredential, error) {
		return azidentity.NewDefaultAzureCredential(nil)
	})
	if err != nil {
		return fmt.Errorf("find Azure credentials: %w", err)
	}
	token, err := identity.GetToken(r.Context(), policy.TokenRequestOptions{Scopes: []string{"https://storage.azure.com/.default"}})
	if err != nil {
		return fmt.Errorf("find Azure credentials: %w; set backend.azurerm.account_key_file or backend.azurerm.sas_token_file", firstLine(err))
	}
	r.Header.Set("Authorization", "Bearer "+token.Token)
	return nil
}

func (c *container) open(ctx context.Context, name string) (io.ReadCloser, error) {
	u, err := at(c.endpoint, "/"+c.name+"/"+escape(name), nil)
	if err != nil {
		return nil, err
	}
	return c.fetcher.get(ctx, u)
}

func (c *container) list(ctx context.Context, p pattern) ([]string, error) {
	return list(p, func(marker string) (page, error) {
		query := url.Values{"restype": {"container"}, "comp": {"list"}, "prefix": {p.prefix()}}
		if marker != "" {
			query.Set("marker", marker)
		}
		u, err := at(c.endpoint, "/"+c.name, query)
		if err != nil {
			return page{}, err
		}
		var answer struct {
			Names      []string `xml:"Blobs>Blob>Name"`
			NextMarker string
		}
		err = c.fetcher.decode(ctx, u, xml.Unmarshal, &answer)
		return page{names: answer.Names, next: answer.NextMarker}, err
	})
}
