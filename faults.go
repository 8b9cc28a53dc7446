package miniapi

import (
	"context"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/testapi/faults"
)

// Faults returns the set of faults that are injected into requests. It is empty at the start.
func (s *Server) Faults() *faults.Set { return s.faults }

// addFaults adds the faults of the configuration.
func (s *Server) addFaults() error {
	for _, fault := range s.config.Faults {
		if _, err := s.faults.Add(fault); err != nil {
			return err
		}
	}
	return nil
}

// revision returns the present revision of the storage.
func (s *Server) revision(ctx context.Context) (int64, error) {
	return s.datastore.Backend().CurrentRevision(ctx)
}

// compact removes the history of etcd up to the present.
func (s *Server) compact(ctx context.Context) error { return s.datastore.Expire(ctx) }

const (
	// interveningUser is the user of the writes of intervene.
	interveningUser       = "system:miniapi:faults"
	interveningAnnotation = faults.Group + "/intervening-write"
)

// intervene writes the object of a request, so that a write from a stale copy conflicts. An object
// that does not exist is not written.
func (s *Server) intervene(ctx context.Context, target request.Target) error {
	store, ok := s.store(schema.GroupResource{Group: target.Group, Resource: target.Resource})
	if !ok {
		return nil
	}
	ctx = registry.WithUser(ctx, &authenticationv1.UserInfo{Username: interveningUser, Groups: []string{"system:masters"}})
	_, err := store.Update(ctx, registry.UpdateRequest{
		Namespace: target.Namespace, Name: target.Name,
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			next := current.DeepCopyObject()
			accessor, err := meta.Accessor(next)
			if err != nil {
				return nil, err
			}
			annotations := accessor.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[interveningAnnotation] = time.Now().Format(time.RFC3339Nano)
			accessor.SetAnnotations(annotations)
			return next, nil
		},
		Options: registry.WriteOptions{FieldManager: "miniapi-faults"},
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
