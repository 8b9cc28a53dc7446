package namespace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// remoteTimeout is the time of a request to another server, which must not hold up a namespace.
	remoteTimeout = 30 * time.Second
	// maxAnswer limits the size of an answer, which is a page of metadata.
	maxAnswer = 64 << 20
)

// deleteOptions are the options of all deletions in other servers.
var deleteOptions = []byte(`{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"}`)

// remoteClient sends requests for one resource of an aggregated API in one namespace.
type remoteClient struct {
	transport http.RoundTripper
	resource  schema.GroupVersionResource
	path      string
	timeout   time.Duration // of a request
}

// remoteClient returns an error if the API is not available.
func (c *Controller) remoteClient(resource remoteResource, namespace string) (*remoteClient, error) {
	var transport http.RoundTripper
	if c.config.Remote != nil {
		transport, _ = c.config.Remote(resource.GroupVersion())
	}
	if transport == nil {
		return nil, fmt.Errorf("%s is not served", resource.GroupVersion())
	}
	return &remoteClient{
		transport: transport, resource: resource.GroupVersionResource, timeout: remoteTimeout,
		path: fmt.Sprintf("/apis/%s/namespaces/%s/%s", resource.GroupVersion(), namespace, resource.Resource),
	}, nil
}

// delete deletes an object, or with the name "" the collection.
func (r *remoteClient) delete(ctx context.Context, name string) error {
	path := r.path
	if name != "" {
		path += "/" + name
	}
	return r.do(ctx, http.MethodDelete, &url.URL{Path: path}, deleteOptions, nil)
}

// eachPage calls visit with the metadata of the objects, page by page.
func (r *remoteClient) eachPage(ctx context.Context, visit func([]metav1.PartialObjectMetadata) error) error {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	for {
		var page metav1.PartialObjectMetadataList
		if err := r.do(ctx, http.MethodGet, &url.URL{Path: r.path, RawQuery: query.Encode()}, nil, &page); err != nil {
			return err
		}
		if err := visit(page.Items); err != nil || page.Continue == "" {
			return err
		}
		query.Set("continue", page.Continue)
	}
}

// do sends a request and decodes the answer. It returns the Status of a failure as an error.
func (r *remoteClient) do(ctx context.Context, method string, to *url.URL, body []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json")
	req.Header.Set("Content-Type", "application/json")
	resp, err := r.transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxAnswer:
		return errors.New("the answer is too large")
	case resp.StatusCode >= http.StatusMultipleChoices:
		return r.failure(method, resp.StatusCode, data)
	case answer == nil:
		return nil
	}
	return json.Unmarshal(data, answer)
}

// failure returns the error of an answer that may be a Status.
func (r *remoteClient) failure(method string, code int, data []byte) error {
	var status metav1.Status
	if err := json.Unmarshal(data, &status); err == nil && status.Kind == "Status" && status.Status == metav1.StatusFailure {
		return &apierrors.StatusError{ErrStatus: status}
	}
	return apierrors.NewGenericServerResponse(code, method, r.resource.GroupResource(), "", string(data[:min(len(data), 200)]), 0, true)
}
