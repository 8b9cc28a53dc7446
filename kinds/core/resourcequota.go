package core

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func resourceQuotas(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.ResourceQuota]{
		GroupVersion:             corev1.SchemeGroupVersion,
		Object:                   &corev1.ResourceQuota{},
		List:                     &corev1.ResourceQuotaList{},
		Resource:                 "resourcequotas",
		ShortNames:               []string{"quota"},
		Namespaced:               true,
		Status:                   true,
		Default:                  defaultResourceQuota,
		ValidateCreate:           validateResourceQuota,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           validateResourceQuotaUpdate,
		ReturnDeletedObject:      true,
		ValidateStatusUpdate:     validateResourceQuotaStatus,
		Columns: kind.StandardColumns(
			kind.TextColumn("Request", "Request represents a minimum amount of cpu/memory that a container may consume.",
				func(q *corev1.ResourceQuota) any { return quotaCell(q, isRequest) }),
			kind.TextColumn("Limit", "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.",
				func(q *corev1.ResourceQuota) any { return quotaCell(q, isLimit) }),
		),
	}.Build(features)
}

// isLimit reports whether a quota holds for the limits of containers.
func isLimit(name corev1.ResourceName) bool { return strings.HasPrefix(string(name), "limits.") }

// quotaCell returns the use of the resources that are selected, sorted by name.
func quotaCell(q *corev1.ResourceQuota, selected func(corev1.ResourceName) bool) string {
	var names []corev1.ResourceName
	for name := range q.Status.Hard {
		if selected(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	uses := make([]string, len(names))
	for i, name := range names {
		used, hard := q.Status.Used[name], q.Status.Hard[name]
		uses[i] = fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String())
	}
	return strings.Join(uses, ", ")
}

func isRequest(name corev1.ResourceName) bool { return !isLimit(name) }
