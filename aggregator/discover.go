package aggregator

import (
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
	// discoverTimeout is how long another server may take to describe itself.
	discoverTimeout = 5 * time.Second
	// documentsTimeout is how long others wait for what is not needed.
	documentsTimeout = time.Second
	// maxAnswer is how many bytes of an answer are read.
	maxAnswer = 16 << 20
)

// description is what another server says of its group version.
type description struct {
	resources []apidiscoveryv2.APIResourceDiscovery
	openAPI   map[string]string
}

func (d *description) equal(other *description) bool {
	return equality.Semantic.DeepEqual(d.resources, other.resources) && maps.Equal(d.openAPI, other.openAPI)
}

// discover asks the server to describe its group version, nil where it answers
// with something else; the error says that it is not available.
func (s *server) discover(ctx context.Context, address string) (*description, error) {
	if s.unusable != nil {
		return nil, s.unusable
	}
	at := &url.URL{Scheme: "https", Host: address, Path: "/apis/" + s.groupVersion().String()}
	var list metav1.APIResourceList
	err := s.ask(ctx, at, &list)
	if errors.Is(err, errNotUnderstood) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("failing or missing response from %v: %w", at, err)
	}
	return &description{resources: discovered(list.APIResources), openAPI: s.documents(ctx, address)}, nil
}

// documents are those of OpenAPI about the group version, as far as the server
// has any. It is available without.
func (s *server) documents(ctx context.Context, address string) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, documentsTimeout)
	defer cancel()
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := s.ask(ctx, &url.URL{Scheme: "https", Host: address, Path: "/openapi/v3"}, &index); err != nil {
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

var errNotUnderstood = errors.New("the answer is not understood")

// ask reads an answer in JSON.
func (s *server) ask(ctx context.Context, at *url.URL, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, discoverTimeout)
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
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(answer); err != nil {
		return errNotUnderstood
	}
	return nil
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
