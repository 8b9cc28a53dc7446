package flowcontrol

import (
	"cmp"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func flowSchemas() *registry.Resource {
	doc := flowcontrolv1.FlowSchemaSpec{}.SwaggerDoc()
	return kind.Definition{
		GroupVersion: flowcontrolv1.SchemeGroupVersion,
		Object:       &flowcontrolv1.FlowSchema{},
		List:         &flowcontrolv1.FlowSchemaList{},
		Resource:     "flowschemas",
		Finalizers:   kind.Finalizers,
		Default:      kind.Defaults(defaultFlowSchema),
		Generation:   true,
		Status:       true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateSchema)},
			Update: registry.UpdateStrategy{AllowUnconditional: true, Validate: kind.CheckAgain(validateSchema)},
		},
		StatusStrategy: kind.CheckedStatus(kind.CheckUpdate(validateSchemaStatus)),
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("PriorityLevel", "string", flowcontrolv1.PriorityLevelConfigurationReference{}.SwaggerDoc()["name"]),
				kind.Column("MatchingPrecedence", "string", doc["matchingPrecedence"]),
				kind.Column("DistinguisherMethod", "string", doc["distinguisherMethod"]),
				kind.AgeColumn(),
				kind.Column("MissingPL", "string", "references a broken or non-existent PriorityLevelConfiguration"),
			},
			Row: kind.Row(flowSchemaRow),
			Compare: func(a, b runtime.Object) int {
				return comparePrecedence(a.(*flowcontrolv1.FlowSchema), b.(*flowcontrolv1.FlowSchema))
			},
		},
	}.Build()
}

// comparePrecedence puts first what is matched first.
func comparePrecedence(a, b *flowcontrolv1.FlowSchema) int {
	return cmp.Or(cmp.Compare(a.Spec.MatchingPrecedence, b.Spec.MatchingPrecedence), cmp.Compare(a.Name, b.Name))
}

func flowSchemaRow(schema *flowcontrolv1.FlowSchema) []any {
	method := "<none>"
	if schema.Spec.DistinguisherMethod != nil {
		method = string(schema.Spec.DistinguisherMethod.Type)
	}
	dangling := "?"
	for _, condition := range schema.Status.Conditions {
		if condition.Type == flowcontrolv1.FlowSchemaConditionDangling {
			dangling = string(condition.Status)
			break
		}
	}
	return []any{
		schema.Name,
		schema.Spec.PriorityLevelConfiguration.Name,
		int64(schema.Spec.MatchingPrecedence),
		method,
		kind.Age(schema.CreationTimestamp),
		dangling,
	}
}
