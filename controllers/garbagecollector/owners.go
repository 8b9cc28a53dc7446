package garbagecollector

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/registry"
)

var (
	// errUnknownKind means that the server does not serve the kind of an owner.
	errUnknownKind = errors.New("the kind of the owner is unknown")
	// errNamespacedOwner means that an object of cluster scope refers to an owner in a namespace.
	errNamespacedOwner = errors.New("cluster-scoped objects cannot refer to namespaced owners")
)

// locateOwner returns the location of an owner. The error is errUnknownKind or errNamespacedOwner.
func locateOwner(snapshot *registry.Snapshot, dependent registry.Location, ref metav1.OwnerReference) (registry.Location, error) {
	served, _, ok := snapshot.OfKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	store, stored := served.(*registry.Store)
	switch {
	case !ok || !stored:
		return registry.Location{}, errUnknownKind
	case !store.Resource().Namespaced:
		return registry.Location{Store: store, Name: ref.Name}, nil
	case dependent.Namespace == "":
		return registry.Location{Store: store}, errNamespacedOwner
	}
	return registry.Location{Store: store, Namespace: dependent.Namespace, Name: ref.Name}, nil
}

// owners are the owner references of an object by the state of the owner.
type owners struct {
	// solid owners exist. Owners in waiting exist and wait for the deletion of their dependents.
	// Dangling references have no owner with their UID.
	solid, waiting, dangling []types.UID
	// waitingAt is the latest revision of a waiting owner.
	waitingAt int64
}

// classify reads the owners of an object.
func (c *Collector) classify(ctx context.Context, snapshot *registry.Snapshot, obj *item) (owners, error) {
	var o owners
	for _, ref := range obj.OwnerReferences {
		if slices.Contains(obj.deletedOwners, ref.UID) {
			o.dangling = append(o.dangling, ref.UID)
			continue
		}
		location, err := locateOwner(snapshot, obj.Location, ref)
		if err != nil {
			if errors.Is(err, errNamespacedOwner) {
				c.reportInvalidNamespace(ctx, location.Store, obj, ref)
			}
			return owners{}, err
		}
		owner, err := read(ctx, location)
		switch {
		case apierrors.IsNotFound(err) || err == nil && owner.UID != ref.UID:
			o.dangling = append(o.dangling, ref.UID)
			c.reportInvalidNamespace(ctx, location.Store, obj, ref)
		case err != nil:
			return owners{}, err
		case owner.Deleting && owner.HasFinalizer(metav1.FinalizerDeleteDependents):
			o.waiting, o.waitingAt = append(o.waiting, ref.UID), max(o.waitingAt, owner.revision)
		default:
			o.solid = append(o.solid, ref.UID)
		}
	}
	return o, nil
}
