package manifests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// servedResources caches the resources of group versions.
type servedResources map[schema.GroupVersion][]metav1.APIResource

// resource returns the client for the resource of an object.
func (a *Applier) resource(ctx context.Context, object Object, served servedResources) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	if kind.Version == "" || kind.Kind == "" {
		return nil, errors.New("apiVersion and kind are required")
	}
	gv := kind.GroupVersion()
	if _, known := served[gv]; !known {
		resources, err := a.resources(ctx, gv)
		if err != nil {
			return nil, err
		}
		served[gv] = resources
	}
	i := slices.IndexFunc(served[gv], func(r metav1.APIResource) bool { return r.Kind == kind.Kind && !strings.Contains(r.Name, "/") })
	if i < 0 {
		return nil, fmt.Errorf("the server has no kind %s in %s: is its CustomResourceDefinition missing?", kind.Kind, gv)
	}
	all := a.objects.Resource(gv.WithResource(served[gv][i].Name))
	if !served[gv][i].Namespaced {
		return all, nil
	}
	if object.GetNamespace() == "" {
		return all.Namespace(metav1.NamespaceDefault), nil
	}
	return all.Namespace(object.GetNamespace()), nil
}

// resources returns the resources of a group version, none if the server does not have it. It does
// not use the discovery client of client-go, which imports all types of the API.
func (a *Applier) resources(ctx context.Context, gv schema.GroupVersion) ([]metav1.APIResource, error) {
	path := "/apis/" + gv.String()
	if gv.Group == "" {
		path = "/api/" + gv.Version
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		var list metav1.APIResourceList
		err := json.NewDecoder(resp.Body).Decode(&list)
		return list.APIResources, err
	case http.StatusNotFound:
		return nil, nil
	}
	return nil, fmt.Errorf("discovery of %s: %s", gv, resp.Status)
}
