package normalize

import (
	"net/url"
	"time"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/decode"
)

// A ListedBucket is a bucket in the answer to ListBuckets.
type ListedBucket struct {
	Name string
	// Region is "" if the server does not send it.
	Region string
	// Created is zero if the server does not send it.
	Created time.Time
}

// A Page is a page of the list of buckets.
type Page struct {
	Buckets []ListedBucket
	// Owner is the canonical id of the account that owns the buckets.
	Owner string
	// Next is the token of the next page; "" on the last one.
	Next string
}

// DecodePage decodes an answer to ListBuckets.
func DecodePage(body []byte) (Page, error) {
	v, err := decodeXML(body, "ListAllMyBucketsResult", table.Join(
		presence().Of("Buckets>Listed"), many(block(text().Of("Name BucketRegion CreationDate"))).Of("Buckets.Bucket>Buckets"),
		block(text().Of("ID")).Of("Owner"), text().Of("ContinuationToken>Next")))
	if err != nil {
		return Page{}, err
	}
	if v.At("Listed").IsNull() {
		return Page{}, &UnexpectedAnswerError{"the answer has no list of buckets"}
	}
	p := Page{Owner: v.At("Owner", "ID").Str(), Next: v.At("Next").Str()}
	for _, b := range v.At("Buckets").Items() {
		listed := ListedBucket{Name: b.At("Name").Str(), Region: b.At("BucketRegion").Str()}
		if listed.Name == "" {
			return Page{}, &UnexpectedAnswerError{"the answer has a bucket without a name"}
		}
		// An invalid time counts as unknown.
		listed.Created = decode.Time(b.At("CreationDate").Str(), time.RFC3339)
		p.Buckets = append(p.Buckets, listed)
	}
	return p, nil
}

// DecodeListing decodes an answer to ListObjectsV2 with encoded keys. It returns the keys, and
// whether there are more.
func DecodeListing(body []byte) (keys []string, more bool, err error) {
	v, err := decodeXML(body, "ListBucketResult", table.Join(
		text().Of("Name IsTruncated"), many(block(text().Of("Key"))).Of("Contents>Keys")))
	if err != nil {
		return nil, false, err
	}
	if v.At("Name").IsNull() || v.At("IsTruncated").IsNull() {
		return nil, false, &UnexpectedAnswerError{"the answer is no list of objects"}
	}
	for _, object := range v.At("Keys").Items() {
		// A key that cannot be decoded is none of a log file.
		if key, err := url.QueryUnescape(object.At("Key").Str()); err == nil {
			keys = append(keys, key)
		}
	}
	return keys, v.At("IsTruncated").Str() == "true", nil
}

// An ErrorAnswer is an error of S3.
type ErrorAnswer struct {
	Code, Message string
	// Region is the region of the bucket; "" if the error does not contain it.
	Region string
}

// DecodeError decodes an error of S3. It returns an empty ErrorAnswer for any other body.
func DecodeError(body []byte) ErrorAnswer {
	v, err := decodeXML(body, "Error", text().Of("Code Message Region"))
	if err != nil {
		return ErrorAnswer{}
	}
	return ErrorAnswer{Code: v.At("Code").Str(), Message: v.At("Message").Str(), Region: v.At("Region").Str()}
}
