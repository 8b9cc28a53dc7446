package crd

import (
	"context"
	"fmt"
	"path"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/informer"
)

// registration is the state of a known definition.
type registration struct {
	key string
	// crd has the resolved status.
	crd    *apiextensionsv1.CustomResourceDefinition
	served served
	// written is the revision of the last write of the status, 0 if it did not succeed. The event
	// of that revision needs no reconciliation.
	written int64
	// cleaning is set once the deletion of its objects has started.
	cleaning bool
}

// served is the content of the catalog for a definition. It is empty if the definition is not
// served.
type served struct {
	definition *definition
	resources  []*registry.Resource
}

func (s served) close() {
	if s.definition != nil {
		s.definition.converter.close()
	}
}

// handle reconciles a definition after a change of it.
func (c *Controller) handle(ctx context.Context, change informer.Change) {
	name := path.Base(change.Key)
	if change.New == nil {
		c.remove(ctx, name)
		return
	}
	if r := c.registrations[name]; r != nil && r.written == change.New.Revision {
		return
	}
	crd, err := registry.As[*apiextensionsv1.CustomResourceDefinition](change.New)
	if err != nil {
		c.config.Logger.ErrorContext(ctx, "custom resources: a definition cannot be decoded", "name", name, "error", err)
		c.remove(ctx, name)
		return
	}
	c.reconcile(ctx, change.Key, crd)
}

// reconcile serves a definition and writes its status.
func (c *Controller) reconcile(ctx context.Context, key string, crd *apiextensionsv1.CustomResourceDefinition) {
	resolved := copyWithStatus(crd)
	resolveStatus(resolved, c.namesTakenFrom(crd))
	served, err := c.serve(resolved)
	if err != nil {
		c.config.Logger.ErrorContext(ctx, "custom resources: a definition cannot be served", "name", crd.Name, "error", err)
	}
	var written int64
	readOnly := c.config.Catalog.ReadOnly()
	if !readOnly && !equality.Semantic.DeepEqual(crd.Status, resolved.Status) {
		if written, err = c.writeStatus(ctx, resolved); err != nil {
			c.config.Logger.WarnContext(ctx, "custom resources: the status of a definition cannot be written", "name", crd.Name, "error", err)
			c.definitions.Retry(key)
		}
	}
	r := c.registrations[crd.Name]
	if r == nil {
		r = &registration{key: key}
		c.registrations[crd.Name] = r
	}
	r.crd, r.served, r.written = resolved, served, written
	if !readOnly && crd.DeletionTimestamp != nil {
		c.startCleanup(ctx, r)
	}
	if !equality.Semantic.DeepEqual(crd.Status.AcceptedNames, resolved.Status.AcceptedNames) {
		c.reconcileRejected(ctx, crd)
	}
}

// copyWithStatus returns a shallow copy with a deep copy of the status. Schemas are large, so the
// spec is shared.
func copyWithStatus(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	copied := *crd
	copied.Status = *crd.Status.DeepCopy()
	return &copied
}

// namesTakenFrom returns the names that the other definitions of the group have.
func (c *Controller) namesTakenFrom(crd *apiextensionsv1.CustomResourceDefinition) *takenNames {
	taken := &takenNames{}
	for name, r := range c.registrations {
		if name != crd.Name && r.crd.Spec.Group == crd.Spec.Group {
			taken.add(r.crd.Status.AcceptedNames)
		}
	}
	return taken
}

// serve puts the resources of a definition into the catalog, unless it has them already.
func (c *Controller) serve(crd *apiextensionsv1.CustomResourceDefinition) (served, error) {
	var old, next served
	if r := c.registrations[crd.Name]; r != nil {
		old = r.served
		if servesTheSame(r.crd, crd) {
			crd.Spec = r.crd.Spec // the resources refer to it
			return old, nil
		}
	}
	if isEstablished(crd) {
		next.definition = newDefinition(crd, c.clients())
		next.resources = next.definition.resources()
	}
	if err := c.config.Catalog.Replace(old.resources, next.resources); err != nil {
		return old, err
	}
	old.close()
	return next, nil
}

// servesTheSame reports whether two states of a definition have the same resources.
func servesTheSame(a, b *apiextensionsv1.CustomResourceDefinition) bool {
	return a.UID == b.UID && isEstablished(a) == isEstablished(b) &&
		(a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
		equality.Semantic.DeepEqual(a.Spec, b.Spec) &&
		equality.Semantic.DeepEqual(a.Status.AcceptedNames, b.Status.AcceptedNames)
}

func isEstablished(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
}

// writeStatus writes the status of a definition, updates the metadata of crd, and returns the new
// revision. If crd is not the latest state it writes nothing and returns 0: the event of the latest
// state follows.
func (c *Controller) writeStatus(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (int64, error) {
	store, err := c.store()
	if err != nil {
		return 0, err
	}
	result, err := store.Update(ctx, registry.UpdateRequest{
		Name: crd.Name, Subresource: "status", UID: crd.UID,
		Propose: func(context.Context, runtime.Object) (runtime.Object, error) { return crd, nil },
		Options: registry.WriteOptions{FieldManager: fieldManager},
	})
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("write the status of %s: %w", crd.Name, err)
	}
	written, err := registry.As[*apiextensionsv1.CustomResourceDefinition](result.Entry)
	if err != nil {
		return 0, err
	}
	crd.ObjectMeta = written.ObjectMeta
	return result.Entry.Revision, nil
}

// remove takes the resources of a definition out of the catalog.
func (c *Controller) remove(ctx context.Context, name string) {
	r := c.registrations[name]
	if r == nil {
		return
	}
	delete(c.registrations, name)
	if err := c.config.Catalog.Replace(r.served.resources, nil); err != nil {
		c.config.Logger.ErrorContext(ctx, "custom resources: a definition cannot be removed", "name", name, "error", err)
	}
	r.served.close()
	c.reconcileRejected(ctx, r.crd)
}

// reconcileRejected reconciles the other definitions of a group whose names are not accepted,
// because the names may be free now.
func (c *Controller) reconcileRejected(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) {
	var rejected []*registration
	for name, r := range c.registrations {
		if name != crd.Name && r.crd.Spec.Group == crd.Spec.Group && !apihelpers.IsCRDConditionTrue(r.crd, apiextensionsv1.NamesAccepted) {
			rejected = append(rejected, r)
		}
	}
	for _, r := range rejected {
		c.reconcile(ctx, r.key, r.crd)
	}
}

func (c *Controller) store() (*registry.Store, error) {
	store, ok := c.config.Catalog.Store(definitions)
	if !ok {
		return nil, fmt.Errorf("the catalog has no %s", definitions)
	}
	return store, nil
}
