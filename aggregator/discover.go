package aggregator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/transport"
)

// discoverTimeout is how long another server may take to describe itself.
const discoverTimeout = 5 * time.Second

// discover asks the server for the resources of its group version. There are none
// where it answers with something else; the error says that it is not available.
func (s *server) discover(ctx context.Context, address string) ([]apidiscoveryv2.APIResourceDiscovery, error) {
	if s.unusable != nil {
		return nil, s.unusable
	}
	at := &url.URL{Scheme: "https", Host: address, Path: "/apis/" + s.groupVersion().String()}
	resources, err := s.ask(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("failing or missing response from %v: %w", at, err)
	}
	return resources, nil
}

func (s *server) ask(ctx context.Context, at *url.URL) ([]apidiscoveryv2.APIResourceDiscovery, error) {
	ctx, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	transport.SetAuthProxyHeaders(req, "system:kube-aggregator", "", []string{"system:masters"}, nil)
	client := http.Client{
		Transport:     s.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < http.StatusOK || resp.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("bad status from %v: %d", at, resp.StatusCode)
	}
	var list metav1.APIResourceList
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		return nil, nil // it answers, if not with a list
	}
	return discovered(list.APIResources), nil
}

// discovered puts subresources, which stand in a list as lines of their own,
// where they belong.
func discovered(lines []metav1.APIResource) []apidiscoveryv2.APIResourceDiscovery {
	resources := []apidiscoveryv2.APIResourceDiscovery{}
	for _, line := range lines {
		kind := &metav1.GroupVersionKind{Group: line.Group, Version: line.Version, Kind: line.Kind}
		name, sub, isSub := strings.Cut(line.Name, "/")
		i := slices.IndexFunc(resources, func(r apidiscoveryv2.APIResourceDiscovery) bool { return r.Resource == name })
		if i < 0 {
			i = len(resources)
			resources = append(resources, apidiscoveryv2.APIResourceDiscovery{
				Resource: name, ResponseKind: &metav1.GroupVersionKind{}, Scope: scopeOf(line),
			})
		}
		if isSub {
			resources[i].Subresources = append(resources[i].Subresources, apidiscoveryv2.APISubresourceDiscovery{
				Subresource: sub, ResponseKind: kind, Verbs: line.Verbs,
			})
			continue
		}
		r := &resources[i]
		r.ResponseKind, r.Scope, r.SingularResource = kind, scopeOf(line), line.SingularName
		r.Verbs, r.ShortNames, r.Categories = line.Verbs, line.ShortNames, line.Categories
	}
	return resources
}

func scopeOf(line metav1.APIResource) apidiscoveryv2.ResourceScope {
	if line.Namespaced {
		return apidiscoveryv2.ScopeNamespace
	}
	return apidiscoveryv2.ScopeCluster
}
