package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// listedResource is a resource that can be listed.
type listedResource struct {
	metav1.APIResource
	label    string   // deployments.apps
	versions []string // apps/v1, the preferred one first
}

// isNamed reports whether TYPE or TYPE.GROUP stands for the resource.
func (r *listedResource) isNamed(kind string) bool {
	kind, group, hasGroup := strings.Cut(strings.ToLower(kind), ".")
	return isNamed(r.APIResource, kind) && (!hasGroup || strings.HasPrefix(r.versions[0], group+"/"))
}

// in returns the list of the resource in a version, or in the preferred one if it does not have
// the version. The list of a nil resource is empty.
func (r *listedResource) in(client *serverClient, version string) *objectList {
	if r == nil {
		return &objectList{complete: true}
	}
	if !slices.Contains(r.versions, version) {
		version = r.versions[0]
	}
	return &objectList{client: client, resource: r, version: version}
}

// commonVersions returns the versions that two resources have, in the order of preference. If one
// resource is nil, it returns the versions of the other one. Without common versions it returns one
// of the first resource.
func commonVersions(a, b *listedResource) []string {
	switch {
	case a == nil:
		return b.versions
	case b == nil:
		return a.versions
	}
	var common []string
	for _, version := range b.versions {
		if slices.Contains(a.versions, version) {
			common = append(common, version)
		}
	}
	if len(common) == 0 {
		return a.versions[:1]
	}
	return common
}

// notStored are resources whose objects are not stored, or are stored as objects of another one.
func notStored(group, resource string) bool {
	return group == "miniapi.dev" || group == "events.k8s.io" && resource == "events" || group == "" && resource == "componentstatuses"
}

// listedResources returns the resources that can be listed and are stored, by label.
func (c *serverClient) listedResources(ctx context.Context) (map[string]*listedResource, error) {
	body, err := c.get(ctx, "/apis")
	if err != nil {
		return nil, err
	}
	var groups metav1.APIGroupList
	if err := json.Unmarshal(body, &groups); err != nil {
		return nil, err
	}
	resources := map[string]*listedResource{}
	if err := c.addResources(ctx, resources, "", "v1"); err != nil {
		return nil, err
	}
	for _, group := range groups.Groups {
		for _, version := range group.Versions {
			if err := c.addResources(ctx, resources, group.Name, version.GroupVersion); err != nil {
				return nil, err
			}
		}
	}
	return resources, nil
}

// addResources adds the resources of a group version.
func (c *serverClient) addResources(ctx context.Context, resources map[string]*listedResource, group, version string) error {
	body, err := c.get(ctx, rootOf(version))
	if err != nil {
		return err
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(body, &list); err != nil {
		return err
	}
	for _, r := range list.APIResources {
		if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") || notStored(group, r.Name) {
			continue
		}
		label := strings.TrimSuffix(r.Name+"."+group, ".")
		if resources[label] == nil {
			resources[label] = &listedResource{APIResource: r, label: label}
		}
		resources[label].versions = append(resources[label].versions, version)
	}
	return nil
}

// rootOf returns the path of a group version.
func rootOf(version string) string {
	if strings.Contains(version, "/") {
		return "/apis/" + version
	}
	return "/api/" + version
}

// objectListPage is the number of objects in one request.
const objectListPage = 500

// objectList reads the objects of a resource page by page.
type objectList struct {
	client          *serverClient
	resource        *listedResource
	version         string
	namespace, name string // of the objects, "" for all
	page            []unstructured.Unstructured
	token           string
	complete        bool
}

// peek returns the first object, nil at the end of the list.
func (l *objectList) peek(ctx context.Context) (*unstructured.Unstructured, error) {
	for len(l.page) == 0 {
		if l.complete {
			return nil, nil
		}
		if err := l.read(ctx); err != nil {
			return nil, err
		}
	}
	return &l.page[0], nil
}

// next removes the first object.
func (l *objectList) next() { l.page = l.page[1:] }

func (l *objectList) read(ctx context.Context) error {
	path := rootOf(l.version)
	if l.namespace != "" {
		path += "/namespaces/" + l.namespace
	}
	query := url.Values{"limit": {fmt.Sprint(objectListPage)}}
	if l.token != "" {
		query.Set("continue", l.token)
	}
	if l.name != "" {
		query.Set("fieldSelector", "metadata.name="+l.name)
	}
	body, err := l.client.get(ctx, path+"/"+l.resource.Name+"?"+query.Encode())
	if err != nil {
		return err
	}
	var list unstructured.UnstructuredList
	if err := list.UnmarshalJSON(body); err != nil {
		return err
	}
	l.page, l.token = list.Items, list.GetContinue()
	l.complete = l.token == ""
	return nil
}
