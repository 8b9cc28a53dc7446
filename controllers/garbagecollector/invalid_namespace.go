package garbagecollector

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
)

// reportInvalidNamespace writes an Event if the owner of an absent reference exists in another
// namespace.
func (c *Collector) reportInvalidNamespace(ctx context.Context, store *registry.Store, obj *item, ref metav1.OwnerReference) {
	if !store.Resource().Namespaced || !c.existsElsewhere(ctx, store, obj.Namespace, ref) {
		return
	}
	resource := obj.Store.Resource()
	identity := fmt.Sprintf("[%s/%s, namespace: %s, name: %s, uid: %s]", ref.APIVersion, ref.Kind, obj.Namespace, ref.Name, ref.UID)
	reconcile.Recorder{Catalog: c.config.Catalog, Component: controllerName, Logger: c.config.Logger}.Warn(ctx, corev1.ObjectReference{
		Kind: resource.Kind, APIVersion: apiVersion(resource), Namespace: obj.Namespace, Name: obj.Name, UID: obj.UID,
	}, "OwnerRefInvalidNamespace", fmt.Sprintf("ownerRef %s does not exist in namespace %q", identity, obj.Namespace))
}

func apiVersion(r *registry.Resource) string {
	return strings.TrimPrefix(r.Group+"/"+r.Versions[0].Name, "/")
}

// existsElsewhere reports whether an owner exists in another namespace. Each owner is sought once.
func (c *Collector) existsElsewhere(ctx context.Context, store *registry.Store, namespace string, ref metav1.OwnerReference) bool {
	found, known := c.sought.Get(ref.UID)
	if !known {
		var err error
		if found, err = findOwner(ctx, store, ref); err != nil {
			return false
		}
		c.sought.Add(ref.UID, found)
	}
	return found != "" && found != namespace
}

// findOwner returns the namespace of an owner, "" if it does not exist.
func findOwner(ctx context.Context, store *registry.Store, ref metav1.OwnerReference) (string, error) {
	page, err := store.List(ctx, registry.ListRequest{Field: fields.OneTermEqualSelector("metadata.name", ref.Name)})
	if err != nil {
		return "", err
	}
	snapshot := store.Catalog().Snapshot()
	for _, entry := range page.Entries {
		metadata, err := reconcile.ParseMetadata(entry.Data())
		if location, ok := snapshot.Locate(entry.Key); ok && err == nil && metadata.UID == ref.UID {
			return location.Namespace, nil
		}
	}
	return "", nil
}
