package flowcontrol

import (
	"cmp"
	"context"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func flowSchemas(features *feature.Set) *registry.Resource {
	doc := flowcontrolv1.FlowSchemaSpec{}.SwaggerDoc()
	return kind.Definition[*flowcontrolv1.FlowSchema]{
		GroupVersion:             flowcontrolv1.SchemeGroupVersion,
		Object:                   &flowcontrolv1.FlowSchema{},
		List:                     &flowcontrolv1.FlowSchemaList{},
		Resource:                 "flowschemas",
		GenerateNameOnUpdate:     true,
		Default:                  defaultFlowSchema,
		Generation:               true,
		Status:                   true,
		Validate:                 validateSchema,
		AllowUnconditionalUpdate: true,
		StatusKeepsMetadata:      true,
		PrepareForStatusUpdate: func(_ context.Context, schema, old *flowcontrolv1.FlowSchema) {
			schema.GenerateName = old.GenerateName
		},
		ValidateStatusUpdate: validateSchemaStatus,
		CompareRows:          comparePrecedence,
		Columns: []kind.Column[*flowcontrolv1.FlowSchema]{
			kind.NameColumn[*flowcontrolv1.FlowSchema](),
			kind.TextColumn("PriorityLevel", flowcontrolv1.PriorityLevelConfigurationReference{}.SwaggerDoc()["name"],
				func(schema *flowcontrolv1.FlowSchema) any { return schema.Spec.PriorityLevelConfiguration.Name }),
			kind.TextColumn("MatchingPrecedence", doc["matchingPrecedence"],
				func(schema *flowcontrolv1.FlowSchema) any { return int64(schema.Spec.MatchingPrecedence) }),
			kind.TextColumn("DistinguisherMethod", doc["distinguisherMethod"], distinguisherCell),
			kind.AgeColumn[*flowcontrolv1.FlowSchema](),
			kind.TextColumn("MissingPL", "references a broken or non-existent PriorityLevelConfiguration", danglingCell),
		},
	}.Build(features)
}

// comparePrecedence orders schemas by their matching precedence.
func comparePrecedence(a, b *flowcontrolv1.FlowSchema) int {
	return cmp.Or(cmp.Compare(a.Spec.MatchingPrecedence, b.Spec.MatchingPrecedence), cmp.Compare(a.Name, b.Name))
}

func distinguisherCell(schema *flowcontrolv1.FlowSchema) any {
	if schema.Spec.DistinguisherMethod == nil {
		return kind.None
	}
	return string(schema.Spec.DistinguisherMethod.Type)
}

func danglingCell(schema *flowcontrolv1.FlowSchema) any {
	for _, condition := range schema.Status.Conditions {
		if condition.Type == flowcontrolv1.FlowSchemaConditionDangling {
			return string(condition.Status)
		}
	}
	return "?"
}
