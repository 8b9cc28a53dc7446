package deployment

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/miniapi/miniapi/controllers/pods"

	"github.com/miniapi/miniapi/registry"
)

const hashLabel = appsv1.DefaultDeploymentUniqueLabelKey

// read returns the rollout of a Deployment with its ReplicaSets, some of which it may adopt or
// release.
func (c *controller) read(ctx context.Context, d *appsv1.Deployment) (*rollout, error) {
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return nil, err
	}
	all, err := c.sets.List(ctx, d.Namespace, nil)
	if err != nil {
		return nil, err
	}
	r := &rollout{controller: c, owner: c.deployments.Owner(d, kind()), d: d.DeepCopy(), now: registry.Now(ctx)}
	r.old, err = c.sets.Claim(ctx, r.owner, all, func(set *appsv1.ReplicaSet) bool {
		return selector.Matches(labels.Set(set.Labels))
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(r.old, byAge)
	isLatest := func(set *appsv1.ReplicaSet) bool { return hasTemplate(set, &d.Spec.Template) }
	if i := slices.IndexFunc(r.old, isLatest); i >= 0 {
		r.latest = r.old[i]
		r.old = slices.Delete(r.old, i, i+1)
	}
	return r, nil
}

// byAge orders ReplicaSets by their creation, the oldest first.
func byAge(a, b *appsv1.ReplicaSet) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// hasTemplate reports whether a ReplicaSet has a template, apart from the hash among the labels.
func hasTemplate(set *appsv1.ReplicaSet, template *corev1.PodTemplateSpec) bool {
	return equality.Semantic.DeepEqual(withoutHash(set.Spec.Template), withoutHash(*template))
}

func withoutHash(template corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	template.Labels = maps.Clone(template.Labels)
	delete(template.Labels, hashLabel)
	return template
}

// syncLatest copies the annotations, the revision and minReadySeconds to the latest ReplicaSet, and
// its revision to the Deployment.
func (r *rollout) syncLatest(ctx context.Context) error {
	if r.latest == nil {
		return nil
	}
	updated, err := r.sets.Update(ctx, r.latest, func(set *appsv1.ReplicaSet) {
		setAnnotations(set, r.d, maxRevision(r.old)+1)
		set.Spec.MinReadySeconds = r.d.Spec.MinReadySeconds
	})
	if err != nil {
		return err
	}
	r.latest = updated
	r.setRevision()
	if hasDeadline(r.d) && condition(r.d, appsv1.DeploymentProgressing) == nil {
		r.setCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "FoundNewReplicaSet",
			fmt.Sprintf("Found new replica set %q", r.latest.Name))
	}
	return nil
}

// setRevision copies the revision of the latest ReplicaSet to the Deployment.
func (r *rollout) setRevision() {
	if r.d.Annotations == nil {
		r.d.Annotations = map[string]string{}
	}
	r.d.Annotations[revisionAnnotation] = r.latest.Annotations[revisionAnnotation]
}

// createLatest creates the latest ReplicaSet if it does not exist.
func (r *rollout) createLatest(ctx context.Context) error {
	if r.latest != nil {
		return nil
	}
	set := r.newSet()
	created, err := r.sets.Create(ctx, set)
	switch {
	case apierrors.IsAlreadyExists(err):
		return r.countCollision(ctx, set.Name, err)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return err
	case err != nil:
		message := fmt.Sprintf("Failed to create new replica set %q: %v", set.Name, err)
		if hasDeadline(r.d) {
			r.setCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ReplicaSetCreateError", message)
		}
		r.warn(ctx, "ReplicaSetCreateError", message)
		return err
	}
	r.latest = created
	r.setRevision()
	if *created.Spec.Replicas > 0 {
		r.reportScaling(ctx, created.Name, 0, *created.Spec.Replicas)
	}
	if hasDeadline(r.d) {
		r.setCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetCreated",
			fmt.Sprintf("Created new replica set %q", created.Name))
	}
	return nil
}

// countCollision changes the hash of the next attempt if a ReplicaSet with another template has the
// name. It returns the error of the creation.
func (r *rollout) countCollision(ctx context.Context, name string, conflict error) error {
	existing, err := r.sets.Get(ctx, r.d.Namespace, name)
	if err != nil {
		return err
	}
	if metav1.IsControlledBy(existing, r.d) && hasTemplate(existing, &r.d.Spec.Template) {
		return conflict // another server was faster
	}
	if r.d.Status.CollisionCount == nil {
		r.d.Status.CollisionCount = new(int32)
	}
	*r.d.Status.CollisionCount++
	return conflict
}

// newSet returns the ReplicaSet for the template of the Deployment.
func (r *rollout) newSet() *appsv1.ReplicaSet {
	hash := pods.TemplateHash(&r.d.Spec.Template, r.d.Status.CollisionCount)
	template, selector := r.d.Spec.Template.DeepCopy(), r.d.Spec.Selector.DeepCopy()
	metav1.SetMetaDataLabel(&template.ObjectMeta, hashLabel, hash)
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name:      r.d.Name[:min(len(r.d.Name), validation.DNS1123SubdomainMaxLength-1-len(hash))] + "-" + hash,
			Namespace: r.d.Namespace, Labels: maps.Clone(template.Labels),
			OwnerReferences: []metav1.OwnerReference{r.owner.ControllerReference()},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: new(int32), MinReadySeconds: r.d.Spec.MinReadySeconds,
			Selector: metav1.AddLabelToSelector(selector, hashLabel, hash), Template: *template,
		},
	}
	*set.Spec.Replicas = r.grownSize(set)
	setAnnotations(set, r.d, maxRevision(r.old)+1)
	setSizeAnnotations(set, r.d)
	return set
}

// deleteHistory deletes the oldest ReplicaSets without pods beyond the limit of the history.
func (r *rollout) deleteHistory(ctx context.Context) error {
	if r.d.Spec.RevisionHistoryLimit == nil {
		return nil
	}
	var history []*appsv1.ReplicaSet
	for _, set := range r.old {
		if set.DeletionTimestamp == nil {
			history = append(history, set)
		}
	}
	slices.SortStableFunc(history, func(a, b *appsv1.ReplicaSet) int { return cmp.Compare(revision(a), revision(b)) })
	for _, set := range history[:max(0, len(history)-int(*r.d.Spec.RevisionHistoryLimit))] {
		if *set.Spec.Replicas > 0 || set.Status.Replicas > 0 || set.Generation > set.Status.ObservedGeneration {
			continue
		}
		if err := r.sets.Delete(ctx, set); err != nil {
			return err
		}
	}
	return nil
}
