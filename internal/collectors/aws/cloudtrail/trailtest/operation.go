package trailtest

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"strings"
)

// operationOf returns the name and the parameters of a request in its record; "" for one of
// another form.
func operationOf(r *http.Request, service string, body []byte) (name string, given map[string]any) {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		return target[strings.LastIndexByte(target, '.')+1:], object(body)
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case service == "s3" && len(parts) == 1:
		return bucketOperation(r), map[string]any{"bucketName": parts[0]}
	case service == "lambda" && len(parts) == 4:
		given = object(body)
		given["functionName"] = parts[2]
		return map[string]string{
			"PUT configuration": "UpdateFunctionConfiguration20150331v2", "POST policy": "AddPermission20150331v2", "POST url": "CreateFunctionUrlConfig",
		}[r.Method+" "+parts[3]], given
	case service == "route53" && len(parts) == 4 && r.Method == http.MethodPost:
		return "ChangeResourceRecordSets", map[string]any{"hostedZoneId": parts[2], "changeBatch": map[string]any{"changes": changes(body)}}
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", nil
	}
	name, given = form.Get("Action"), parameters(form)
	// Operations that EC2 got later are logged in another form.
	if id := form.Get("VpcEndpointId.1"); name == "DeleteVpcEndpoints" {
		given = map[string]any{name + "Request": map[string]any{"VpcEndpointId": map[string]any{"tag": 1, "content": id}}}
	}
	return name, given
}

// bucketOperation returns the operation on a bucket, or on the part of it in the query.
func bucketOperation(r *http.Request) string {
	part := strings.TrimSuffix(r.URL.RawQuery, "=")
	verb := map[string]string{http.MethodPut: "Put", http.MethodDelete: "Delete"}[r.Method]
	switch {
	case verb == "":
		return ""
	case part == "" && verb == "Put":
		return "CreateBucket"
	case part == "":
		return "DeleteBucket"
	}
	return verb + "Bucket" + strings.ToUpper(part[:1]) + part[1:]
}

// object returns the fields of a JSON object. Their names begin with a small letter in records.
func object(body []byte) map[string]any {
	var all map[string]any
	if json.Unmarshal(body, &all) != nil {
		all = nil
	}
	named := map[string]any{}
	for name, v := range all {
		named[lower(name)] = v
	}
	return named
}

// changes returns the changes of records in a request of Route 53.
func changes(body []byte) []any {
	var request struct {
		Changes []struct {
			Action            string
			ResourceRecordSet struct{ Name, Type, SetIdentifier string }
		} `xml:"ChangeBatch>Changes>Change"`
	}
	if xml.Unmarshal(body, &request) != nil {
		return nil
	}
	all := make([]any, len(request.Changes))
	for i, c := range request.Changes {
		set := map[string]any{"name": c.ResourceRecordSet.Name, "type": c.ResourceRecordSet.Type}
		if id := c.ResourceRecordSet.SetIdentifier; id != "" {
			set["setIdentifier"] = id
		}
		all[i] = map[string]any{"action": c.Action, "resourceRecordSet": set}
	}
	return all
}
