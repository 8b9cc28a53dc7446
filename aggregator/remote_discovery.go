package aggregator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/transport"
)

const (
	// discoveryTimeout is the time of a discovery request to another server.
	discoveryTimeout = 5 * time.Second
	// maxAnswerBytes bounds the bytes of an answer that are read.
	maxAnswerBytes = 16 << 20
)

// description holds the discovery of a group version of another server.
type description struct {
	resources []apidiscoveryv2.APIResourceDiscovery
	openAPI   map[string]string
}

func (d *description) equal(other *description) bool {
	return equality.Semantic.DeepEqual(d.resources, other.resources) && maps.Equal(d.openAPI, other.openAPI)
}

// discover requests the discovery of the group version. It returns nil without an error if the
// answer is no APIResourceList. An error means that the server is not available.
func (s *server) discover(ctx context.Context, address string) (*description, error) {
	if s.transportErr != nil {
		return nil, s.transportErr
	}
	at := &url.URL{Scheme: "https", Host: address, Path: "/apis/" + s.groupVersion().String()}
	var list metav1.APIResourceList
	err := s.getJSON(ctx, at, &list)
	if errors.Is(err, errNotJSON) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("failing or missing response from %v: %w", at, err)
	}
	return &description{resources: discovered(list.APIResources), openAPI: s.openAPIDocuments(ctx, address)}, nil
}

// openAPIDocuments returns the URLs of the OpenAPI v3 documents of the group version by their
// names. It returns nil if the server has no index of them.
func (s *server) openAPIDocuments(ctx context.Context, address string) map[string]string {
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := s.getJSON(ctx, &url.URL{Scheme: "https", Host: address, Path: "/openapi/v3"}, &index); err != nil {
		return nil
	}
	found := map[string]string{}
	for _, name := range []string{"apis/" + s.groupVersion().Group, "apis/" + s.groupVersion().String()} {
		if document, ok := index.Paths[name]; ok {
			found[name] = document.ServerRelativeURL
		}
	}
	return found
}

var errNotJSON = errors.New("the answer is no JSON")

// getJSON requests a URL and decodes the answer. The error is errNotJSON if the answer cannot be
// decoded.
func (s *server) getJSON(ctx context.Context, at *url.URL, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	transport.SetAuthProxyHeaders(req, "system:kube-aggregator", "", []string{"system:masters"}, nil)
	client := http.Client{
		Transport:     s.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode < http.StatusOK || resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("bad status from %v: %d", at, resp.StatusCode)
	}
	return decodeAnswer(resp.Body, answer)
}

// decodeAnswer decodes the body of an answer. An incomplete body is another error than errNotJSON.
func decodeAnswer(body io.Reader, answer any) error {
	data, err := io.ReadAll(io.LimitReader(body, maxAnswerBytes))
	if err != nil {
		return err
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(answer); err != nil {
		return errNotJSON
	}
	return nil
}

// discovered converts a discovery list, in which each subresource is an item of its own, to the
// aggregated form, in which it belongs to its resource.
func discovered(items []metav1.APIResource) []apidiscoveryv2.APIResourceDiscovery {
	resources := []apidiscoveryv2.APIResourceDiscovery{}
	for _, item := range items {
		kind := &metav1.GroupVersionKind{Group: item.Group, Version: item.Version, Kind: item.Kind}
		name, sub, isSub := strings.Cut(item.Name, "/")
		i := slices.IndexFunc(resources, func(r apidiscoveryv2.APIResourceDiscovery) bool { return r.Resource == name })
		if i < 0 {
			i = len(resources)
			resources = append(resources, apidiscoveryv2.APIResourceDiscovery{
				Resource: name, ResponseKind: &metav1.GroupVersionKind{}, Scope: scopeOf(item),
			})
		}
		if isSub {
			resources[i].Subresources = append(resources[i].Subresources, apidiscoveryv2.APISubresourceDiscovery{
				Subresource: sub, ResponseKind: kind, Verbs: item.Verbs,
			})
			continue
		}
		r := &resources[i]
		r.ResponseKind, r.Scope, r.SingularResource = kind, scopeOf(item), item.SingularName
		r.Verbs, r.ShortNames, r.Categories = item.Verbs, item.ShortNames, item.Categories
	}
	return resources
}

func scopeOf(item metav1.APIResource) apidiscoveryv2.ResourceScope {
	if item.Namespaced {
		return apidiscoveryv2.ScopeNamespace
	}
	return apidiscoveryv2.ScopeCluster
}
