package miniapitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// admin writes to a server as the other client of an attempt.
type admin struct {
	client *http.Client
	host   string
}

func newAdmin(server *Server) (*admin, error) {
	client, err := rest.HTTPClientFor(server.RESTConfig())
	return &admin{client, server.URL()}, err
}

// errorStatus is the answer to a request that failed.
type errorStatus struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *errorStatus) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

// send sends a request and decodes the answer into a value, unless that is nil.
func (a *admin) send(ctx context.Context, method, uri string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, a.host+uri, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	if response.StatusCode >= 300 {
		status := &errorStatus{Code: response.StatusCode}
		_ = decoder.Decode(status) // the code remains
		return fmt.Errorf("%s %s: %w", method, uri, status)
	}
	if into == nil {
		return nil
	}
	return decoder.Decode(into)
}

// objectMeta is the metadata of an object or a list.
type objectMeta struct {
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	ResourceVersion string `json:"resourceVersion"`
}

// revision returns the present revision of the server.
func (a *admin) revision(ctx context.Context) (int64, error) {
	var list struct{ Metadata objectMeta }
	if err := a.send(ctx, http.MethodGet, "/api/v1/namespaces?limit=1", nil, &list); err != nil {
		return 0, err
	}
	return strconv.ParseInt(list.Metadata.ResourceVersion, 10, 64)
}

// touch sets an annotation of all objects of a collection in turn, with so many writes in total.
func (a *attempt) touch(ctx context.Context, c collection, writes int) error {
	var list struct {
		Items []struct{ Metadata objectMeta }
	}
	if err := a.admin.send(ctx, http.MethodGet, c.uri(), nil, &list); err != nil {
		return err
	}
	if len(list.Items) == 0 {
		return nil
	}
	for i := 0; i < writes || i < len(list.Items); i++ {
		meta := list.Items[i%len(list.Items)].Metadata
		patch := map[string]any{"metadata": map[string]any{"annotations": map[string]string{
			"miniapi.dev/fault-suite": strconv.Itoa(i),
		}}}
		err := a.admin.send(ctx, http.MethodPatch, c.object(meta), patch, nil)
		var status *errorStatus
		deleted := errors.As(err, &status) && status.Code == http.StatusNotFound // by the controller
		if err != nil && !deleted {
			return err
		}
	}
	return nil
}

// takeLease makes the suite the holder of a Lease and returns the duration for which the former
// holder may have relied on it.
func (a *attempt) takeLease(ctx context.Context, lease Write) (time.Duration, error) {
	uri := "/apis/coordination.k8s.io/v1/namespaces/" + lease.Namespace + "/leases/" + lease.Name
	var present struct {
		Spec struct {
			LeaseDurationSeconds int64 `json:"leaseDurationSeconds"`
			LeaseTransitions     int64 `json:"leaseTransitions"`
		}
	}
	if err := a.admin.send(ctx, http.MethodGet, uri, nil, &present); err != nil {
		return 0, err
	}
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	patch := map[string]any{"spec": map[string]any{
		"holderIdentity": "miniapi-fault-suite", "leaseDurationSeconds": 3600,
		"acquireTime": now, "renewTime": now, "leaseTransitions": present.Spec.LeaseTransitions + 1,
	}}
	err := a.admin.send(ctx, http.MethodPatch, uri, patch, nil)
	return time.Duration(present.Spec.LeaseDurationSeconds) * time.Second, err
}

// collection is a collection of objects that a client watches.
type collection struct {
	// prefix is the path of the group version, such as /apis/apps/v1.
	prefix, group, namespace, resource string
	selectors                          url.Values
}

// parseCollection returns the collection of a watch.
func parseCollection(uri string) (collection, bool) {
	parsed, err := url.Parse(uri)
	if err != nil {
		return collection{}, false
	}
	parts := strings.Split(strings.Trim(parsed.Path, "/"), "/")
	var c collection
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		c.prefix, parts = "/api/"+parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		c.prefix, c.group, parts = "/apis/"+parts[1]+"/"+parts[2], parts[1], parts[3:]
	default:
		return c, false
	}
	if parts[0] == "namespaces" && len(parts) >= 3 {
		c.namespace, parts = parts[1], parts[2:]
	}
	if c.resource = parts[0]; len(parts) != 1 {
		return c, false
	}
	c.selectors = url.Values{}
	for _, key := range []string{"labelSelector", "fieldSelector"} {
		if value := parsed.Query().Get(key); value != "" {
			c.selectors.Set(key, value)
		}
	}
	return c, true
}

// groupResource returns the resource as RBAC names it.
func (c collection) groupResource() string {
	if c.group == "" {
		return c.resource
	}
	return c.resource + "." + c.group
}

// uri returns the request URI of a list.
func (c collection) uri() string {
	path := c.prefix
	if c.namespace != "" {
		path += "/namespaces/" + c.namespace
	}
	return path + "/" + c.resource + "?" + c.selectors.Encode()
}

// object returns the path of an object.
func (c collection) object(meta objectMeta) string {
	path := c.prefix
	if meta.Namespace != "" {
		path += "/namespaces/" + meta.Namespace
	}
	return path + "/" + c.resource + "/" + meta.Name
}
