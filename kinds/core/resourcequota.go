package core

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func resourceQuotas() *registry.Resource {
	return kind.Definition{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.ResourceQuota{},
		List:         &corev1.ResourceQuotaList{},
		Resource:     "resourcequotas",
		ShortNames:   []string{"quota"},
		Namespaced:   true,
		Status:       true,
		Default:      kind.Defaults(defaultResourceQuota),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateResourceQuota)},
			Update: registry.UpdateStrategy{AllowUnconditional: true, Validate: kind.CheckUpdate(validateResourceQuotaUpdate)},
			Delete: registry.DeleteStrategy{ReturnObject: true},
		},
		StatusStrategy: registry.UpdateStrategy{Validate: kind.CheckUpdate(validateResourceQuotaStatus)},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Request", "string", "Request represents a minimum amount of cpu/memory that a container may consume."),
				kind.Column("Limit", "string", "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node."),
				kind.AgeColumn(),
			},
			Row: kind.Row(resourceQuotaRow),
		},
	}.Build()
}

func resourceQuotaRow(q *corev1.ResourceQuota) []any {
	byRule := func(a, b corev1.ResourceName) int { return cmp.Compare(a, b) }
	var requests, limits []string
	for _, name := range slices.SortedFunc(maps.Keys(q.Status.Hard), byRule) {
		used, hard := q.Status.Used[name], q.Status.Hard[name]
		use := fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String())
		if strings.HasPrefix(string(name), "limits.") {
			limits = append(limits, use)
		} else {
			requests = append(requests, use)
		}
	}
	return []any{q.Name, strings.Join(requests, ", "), strings.Join(limits, ", "), kind.Age(q.CreationTimestamp)}
}
