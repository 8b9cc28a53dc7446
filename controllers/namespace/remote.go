package namespace

import (
	"context"
	"fmt"
	"slices"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// remoteRecheck is the time after which the remaining objects of aggregated APIs are looked up
// again, because their changes are not reported here.
const remoteRecheck = 8 * time.Second

// remoteResource is a resource of an aggregated API.
type remoteResource struct {
	schema.GroupVersionResource
	// collection is set if the other server deletes whole collections.
	collection bool
}

// remoteResources returns the resources of aggregated APIs with objects in namespaces, each in its
// preferred version. It leaves out group versions whose discovery is out of date.
func remoteResources(snapshot *registry.Snapshot) []remoteResource {
	var found []remoteResource
	seen := map[schema.GroupResource]bool{}
	for _, group := range snapshot.Groups {
		for _, version := range group.Versions {
			remote, ok := snapshot.Remote(schema.GroupVersion{Group: group.Name, Version: version})
			if !ok || remote.Stale {
				continue
			}
			for _, r := range remote.Resources {
				resource := remoteResource{remote.WithResource(r.Resource), slices.Contains(r.Verbs, "deletecollection")}
				deletable := r.Scope == apidiscoveryv2.ScopeNamespace && slices.Contains(r.Verbs, "delete") && slices.Contains(r.Verbs, "list")
				if deletable && !seen[resource.GroupResource()] {
					seen[resource.GroupResource()] = true
					found = append(found, resource)
				}
			}
		}
	}
	return found
}

// deleteRemote deletes the objects of an aggregated API in a namespace and adds the remaining ones
// to the result.
func (c *Controller) deleteRemote(ctx context.Context, resource remoteResource, ns *corev1.Namespace, result *content) {
	client, err := c.remoteClient(resource, ns.Name)
	if err == nil {
		err = client.deleteAll(ctx, resource.collection)
	}
	if err != nil {
		result.add(fmt.Errorf("delete %s: %w", resource.GroupResource(), err))
		return
	}
	count, finalizers := 0, map[string]int{}
	err = client.eachPage(ctx, func(items []metav1.PartialObjectMetadata) error {
		count += len(items)
		for _, item := range items {
			for _, finalizer := range item.Finalizers {
				finalizers[finalizer]++
			}
		}
		return nil
	})
	if err != nil || count == 0 {
		result.add(err)
		return
	}
	result.recheck = remoteRecheck
	result.addRemaining(resource.GroupVersionResource, count, finalizers)
	if len(finalizers) == 0 {
		result.add(unexpectedItems(ns.Name, resource.GroupVersionResource))
	}
}

// deleteAll deletes all objects, one by one if the other server does not delete collections.
func (r *remoteClient) deleteAll(ctx context.Context, collection bool) error {
	if collection {
		err := r.delete(ctx, "")
		if !apierrors.IsMethodNotSupported(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return r.eachPage(ctx, func(items []metav1.PartialObjectMetadata) error {
		for _, item := range items {
			if err := r.delete(ctx, item.Name); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		return nil
	})
}
