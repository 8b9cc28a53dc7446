package miniapi

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/bootstrap"
)

// ObjectNames lists the stored objects of a resource.
type ObjectNames struct {
	// Resource is the resource as RBAC names it, such as deployments.apps.
	Resource string `json:"resource"`
	// Names are the names of the objects, of namespaced ones NAMESPACE/NAME.
	Names []string `json:"names"`
}

// ObjectNames returns the names of all stored objects, sorted by resource and name. The bootstrap
// objects and the objects that controllers create in each namespace are left out. It reads the
// names from etcd and decodes nothing.
func (s *Server) ObjectNames(ctx context.Context) ([]ObjectNames, error) {
	known, err := s.bootstrapKeys()
	if err != nil {
		return nil, err
	}
	prefix := strings.TrimSuffix(s.config.EtcdPrefix, "/")
	response, err := s.datastore.Client().Get(ctx, prefix+"/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, fmt.Errorf("list the objects: %w", err)
	}
	resources := s.resourcesByPath()
	names := map[string][]string{}
	for _, kv := range response.Kvs {
		key := strings.TrimPrefix(string(kv.Key), prefix)
		resource, name := splitKey(resources, key)
		if resource != "" && !known[key] && !inEveryNamespace(resource, name) {
			names[resource] = append(names[resource], name)
		}
	}
	list := make([]ObjectNames, 0, len(names))
	for resource, names := range names {
		list = append(list, ObjectNames{resource, names})
	}
	slices.SortFunc(list, func(a, b ObjectNames) int { return strings.Compare(a.Resource, b.Resource) })
	return list, nil
}

// resourcesByPath returns the names of the resources by the path of their keys.
func (s *Server) resourcesByPath() map[string]string {
	resources := map[string]string{}
	for _, resource := range s.catalog.Snapshot().Resources() {
		if resource.StoragePath != "" && resources[resource.StoragePath] == "" {
			resources[resource.StoragePath] = resource.GroupResource().String()
		}
	}
	return resources
}

// splitKey returns the resource and the name of a key, "" for other keys. The longest path
// wins: services/specs has objects, services has none.
func splitKey(resources map[string]string, key string) (resource, name string) {
	parts := strings.Split(strings.Trim(key, "/"), "/")
	for i := len(parts) - 1; i > 0; i-- {
		if resource := resources[strings.Join(parts[:i], "/")]; resource != "" {
			return resource, strings.Join(parts[i:], "/")
		}
	}
	return "", ""
}

// inEveryNamespace reports whether controllers create the object in each namespace.
func inEveryNamespace(resource, name string) bool {
	return resource == "serviceaccounts" && path.Base(name) == "default" ||
		resource == "configmaps" && path.Base(name) == "kube-root-ca.crt"
}

// bootstrapKeys returns the keys of the bootstrap objects, among them the identity lease and the
// APIServices of the group versions that this server serves.
func (s *Server) bootstrapKeys() (map[string]bool, error) {
	objects, err := bootstrap.Objects(s.config.Bootstrap, s.bootstrap)
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	for _, object := range objects {
		keys[object.Key] = true
	}
	if s.identityLease != nil {
		keys[s.identityLease.Key()] = true
	}
	snapshot := s.catalog.Snapshot()
	for _, group := range snapshot.Groups {
		for _, version := range group.Versions {
			if _, remote := snapshot.Remote(schema.GroupVersion{Group: group.Name, Version: version}); !remote {
				keys["/apiregistration.k8s.io/apiservices/"+version+"."+group.Name] = true
			}
		}
	}
	return keys, nil
}
