package apiextensions

import (
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

// definitionColumns returns no columns if the gate of the columns is disabled, which gives the name
// and the time of creation.
func definitionColumns(features *feature.Set) []kind.Column[*apiextensionsv1.CustomResourceDefinition] {
	if !features.Enabled(feature.DefinitionColumns) {
		return nil
	}
	established := kind.BooleanColumn("Established", "Established status",
		func(d *apiextensionsv1.CustomResourceDefinition) any { return isEstablished(d) })
	established.Priority = kind.Wide
	return []kind.Column[*apiextensionsv1.CustomResourceDefinition]{
		kind.NameColumn[*apiextensionsv1.CustomResourceDefinition](),
		kind.TextColumn("Scope", "Cluster/Namespaced",
			func(d *apiextensionsv1.CustomResourceDefinition) any { return string(d.Spec.Scope) }),
		kind.TextColumn("Versions", "Served versions",
			func(d *apiextensionsv1.CustomResourceDefinition) any { return servedVersions(d) }),
		{Name: "Created At", Type: "date", Description: kind.MetaDoc("creationTimestamp"),
			Cell: func(d *apiextensionsv1.CustomResourceDefinition) any {
				return d.CreationTimestamp.UTC().Format(time.RFC3339)
			}},
		kind.WideColumn("Group", "API group",
			func(d *apiextensionsv1.CustomResourceDefinition) any { return d.Spec.Group }),
		kind.WideColumn("Kind", "CustomResource kind",
			func(d *apiextensionsv1.CustomResourceDefinition) any { return d.Spec.Names.Kind }),
		kind.WideColumn("ShortNames", "Short names",
			func(d *apiextensionsv1.CustomResourceDefinition) any {
				return strings.Join(d.Spec.Names.ShortNames, ",")
			}),
		established,
	}
}

// servedVersions returns the names of the served versions, sorted as strings.
func servedVersions(d *apiextensionsv1.CustomResourceDefinition) string {
	var names []string
	for _, v := range d.Spec.Versions {
		switch {
		case v.Served && v.Storage:
			names = append(names, v.Name+"(storage)")
		case v.Served:
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

func isEstablished(d *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(d.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}
