package namespace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// healthy are the conditions without a problem, in the order in which they are added, with the
// reasons and messages of kube-controller-manager.
var healthy = []corev1.NamespaceCondition{
	{Type: corev1.NamespaceDeletionDiscoveryFailure, Reason: "ResourcesDiscovered", Message: "All resources successfully discovered"},
	{Type: corev1.NamespaceDeletionGVParsingFailure, Reason: "ParsedGroupVersions", Message: "All legacy kube types successfully parsed"},
	{Type: corev1.NamespaceDeletionContentFailure, Reason: "ContentDeleted", Message: "All content successfully deleted, may be waiting on finalization"},
	{Type: corev1.NamespaceContentRemaining, Reason: "ContentRemoved", Message: "All content successfully removed"},
	{Type: corev1.NamespaceFinalizersRemaining, Reason: "ContentHasNoFinalizers", Message: "All content-preserving finalizers finished"},
}

// conditions returns the conditions for the result of a pass. NamespaceDeletionGVParsingFailure is
// never true, because every group version in the catalog is well-formed.
func (c *content) conditions() []corev1.NamespaceCondition {
	conditions := slices.Clone(healthy)
	problem := func(i int, reason, format string, args ...any) {
		conditions[i].Status, conditions[i].Reason, conditions[i].Message = corev1.ConditionTrue, reason, fmt.Sprintf(format, args...)
	}
	for i := range conditions {
		conditions[i].Status = corev1.ConditionFalse
	}
	if len(c.undiscovered) > 0 {
		problem(0, "DiscoveryFailed", "Discovery failed for some groups, %d failing: %s", len(c.undiscovered), discoveryError(c.undiscovered))
	}
	if len(c.errs) > 0 {
		problem(2, "ContentDeletionFailed", "Failed to delete all resource types, %d remaining: %s", len(c.errs),
			joined(c.errs, error.Error))
	}
	if c.partial { // kube-controller-manager counts the content only after the pods are gone
		return conditions
	}
	if len(c.remaining) > 0 {
		problem(3, "SomeResourcesRemain", "Some resources are remaining: %s", joinedCounts(c.remaining, func(r schema.GroupVersionResource) string {
			return fmt.Sprintf("%s.%s has", r.Resource, r.Group)
		}))
	}
	if len(c.finalizers) > 0 {
		problem(4, "SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: %s",
			joinedCounts(c.finalizers, func(finalizer string) string { return finalizer + " in" }))
	}
	return conditions
}

// discoveryError returns the text of client-go for group versions that cannot be discovered.
func discoveryError(failed []schema.GroupVersion) string {
	return "unable to retrieve the complete list of server APIs: " + joined(failed, func(gv schema.GroupVersion) string {
		return fmt.Sprintf("%s: stale GroupVersion discovery: %s", gv, gv)
	})
}

// joined returns the texts of a list in alphabetical order, separated by commas.
func joined[T any](list []T, text func(T) string) string {
	texts := make([]string, len(list))
	for i, element := range list {
		texts[i] = text(element)
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

// joinedCounts is joined for numbers of objects.
func joinedCounts[K comparable](counts map[K]int, text func(K) string) string {
	var texts []string
	for key, n := range counts {
		texts = append(texts, fmt.Sprintf("%s %d resource instances", text(key), n))
	}
	return joined(texts, func(s string) string { return s })
}

// updateStatus writes the phase and the conditions of a namespace. It writes nothing if they are
// unchanged.
func (c *Controller) updateStatus(ctx context.Context, ns *corev1.Namespace, conditions []corev1.NamespaceCondition) error {
	return c.update(ctx, ns.Name, ns.UID, "status", func(ns *corev1.Namespace) {
		ns.Status.Phase = corev1.NamespaceTerminating
		for _, condition := range conditions {
			condition.LastTransitionTime = metav1.NewTime(registry.Now(ctx))
			setCondition(&ns.Status, condition)
		}
	})
}

// setCondition sets a condition. Its time is used only if its status changes.
func setCondition(status *corev1.NamespaceStatus, condition corev1.NamespaceCondition) {
	for i := range status.Conditions {
		if current := &status.Conditions[i]; current.Type == condition.Type {
			if current.Status == condition.Status {
				condition.LastTransitionTime = current.LastTransitionTime
			}
			*current = condition
			return
		}
	}
	status.Conditions = append(status.Conditions, condition)
}
