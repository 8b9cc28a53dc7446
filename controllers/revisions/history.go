// Package revisions keeps the templates of StatefulSets and DaemonSets as ControllerRevisions, in
// the format of kube-controller-manager.
package revisions

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
)

// maxPrefix is the maximum length of the name of a workload in the name of a revision.
const maxPrefix = 223

// History reads and writes the ControllerRevisions of workloads.
type History struct {
	Objects reconcile.Objects[*appsv1.ControllerRevision]
	// HashLabel is the label of a revision with its hash.
	HashLabel string
	// Hash returns the hash of a revision for its name. Another number of collisions gives another
	// hash.
	Hash func(workload Workload, data []byte) string
}

// Workload is a workload with a template.
type Workload struct {
	reconcile.Owner
	Template *corev1.PodTemplateSpec
	// Collisions is the number of names that other revisions had.
	Collisions *int32
}

// NewHistory returns a History with a label and a function for hashes.
func NewHistory(catalog *registry.Catalog, label string, hash func(Workload, []byte) string) History {
	return History{
		Objects:   reconcile.Objects[*appsv1.ControllerRevision]{Catalog: catalog, Resource: appsv1.Resource("controllerrevisions")},
		HashLabel: label, Hash: hash,
	}
}

// List returns the revisions of a workload, the oldest first. It adopts revisions that match.
func (h History) List(ctx context.Context, owner reconcile.Owner, selector labels.Selector) ([]*appsv1.ControllerRevision, error) {
	all, err := h.Objects.List(ctx, owner.GetNamespace(), nil)
	if err != nil {
		return nil, err
	}
	list, err := h.Objects.Claim(ctx, owner, all, func(r *appsv1.ControllerRevision) bool {
		return selector.Matches(labels.Set(r.Labels))
	})
	slices.SortFunc(list, compare)
	return list, err
}

func compare(a, b *appsv1.ControllerRevision) int {
	return cmp.Or(cmp.Compare(a.Revision, b.Revision), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// Latest returns the revision with the template of a workload. A new template gets a new revision,
// and an older one becomes the latest again. list has the revisions in the order of List. The error
// is AlreadyExists if the name of the revision is in use: then the number of collisions has
// increased.
func (h History) Latest(ctx context.Context, workload *Workload, list []*appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	next := int64(1)
	if len(list) > 0 {
		next = list[len(list)-1].Revision + 1
	}
	for i, revision := range slices.Backward(list) {
		template, err := Template(revision)
		if err != nil || !equality.Semantic.DeepEqual(template, workload.Template) {
			continue
		}
		if i == len(list)-1 {
			return revision, nil
		}
		return h.Objects.Update(ctx, revision, func(r *appsv1.ControllerRevision) { r.Revision = next })
	}
	return h.create(ctx, workload, next)
}

func (h History) create(ctx context.Context, workload *Workload, number int64) (*appsv1.ControllerRevision, error) {
	revision, err := h.revision(*workload, number)
	if err != nil {
		return nil, err
	}
	created, err := h.Objects.Create(ctx, revision)
	if !apierrors.IsAlreadyExists(err) {
		return created, err
	}
	existing, getErr := h.Objects.Get(ctx, revision.Namespace, revision.Name)
	if getErr != nil {
		return nil, getErr
	}
	if metav1.IsControlledBy(existing, workload) && bytes.Equal(existing.Data.Raw, revision.Data.Raw) {
		return existing, nil
	}
	var collisions int32
	if workload.Collisions != nil {
		collisions = *workload.Collisions
	}
	workload.Collisions = new(collisions + 1)
	return nil, err
}

func (h History) revision(workload Workload, number int64) (*appsv1.ControllerRevision, error) {
	data, err := encode(workload.Template)
	if err != nil {
		return nil, err
	}
	hash := h.Hash(workload, data)
	revision := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: workload.GetNamespace(),
			Name:      fmt.Sprintf("%s-%s", workload.GetName()[:min(len(workload.GetName()), maxPrefix)], hash),
			Labels:    maps.Clone(workload.Template.Labels), Annotations: maps.Clone(workload.GetAnnotations()),
			OwnerReferences: []metav1.OwnerReference{workload.ControllerReference()},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: number,
	}
	metav1.SetMetaDataLabel(&revision.ObjectMeta, h.HashLabel, hash)
	return revision, nil
}

// encode returns a strategic merge patch of a workload that restores a template.
func encode(template *corev1.PodTemplateSpec) ([]byte, error) {
	data, err := json.Marshal(template)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	fields["$patch"] = "replace"
	return json.Marshal(map[string]any{"spec": map[string]any{"template": fields}})
}

// Template returns the template of a revision.
func Template(revision *appsv1.ControllerRevision) (*corev1.PodTemplateSpec, error) {
	var patch struct {
		Spec struct{ Template corev1.PodTemplateSpec }
	}
	if err := json.Unmarshal(revision.Data.Raw, &patch); err != nil {
		return nil, fmt.Errorf("decode ControllerRevision %s: %w", revision.Name, err)
	}
	return &patch.Spec.Template, nil
}

// Truncate deletes the oldest revisions beyond a limit, apart from those in use.
func (h History) Truncate(ctx context.Context, list []*appsv1.ControllerRevision, isUsed func(*appsv1.ControllerRevision) bool, limit int32) error {
	old := slices.DeleteFunc(slices.Clone(list), isUsed)
	for _, revision := range old[:max(0, len(old)-int(limit))] {
		if err := h.Objects.Delete(ctx, revision); err != nil {
			return err
		}
	}
	return nil
}
