package flowcontrol

import (
	"context"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func priorityLevels(features *feature.Set) *registry.Resource {
	return kind.Definition[*flowcontrolv1.PriorityLevelConfiguration]{
		GroupVersion:             flowcontrolv1.SchemeGroupVersion,
		Object:                   &flowcontrolv1.PriorityLevelConfiguration{},
		List:                     &flowcontrolv1.PriorityLevelConfigurationList{},
		Resource:                 "prioritylevelconfigurations",
		GenerateNameOnUpdate:     true,
		Default:                  defaultPriorityLevel,
		Generation:               true,
		Status:                   true,
		Validate:                 validateLevel,
		AllowUnconditionalUpdate: true,
		StatusKeepsMetadata:      true,
		PrepareForStatusUpdate: func(_ context.Context, level, old *flowcontrolv1.PriorityLevelConfiguration) {
			level.GenerateName = old.GenerateName
		},
		ValidateStatusUpdate: validateLevelStatus,
		Columns:              priorityLevelColumns(),
	}.Build(features)
}

func priorityLevelColumns() []kind.Column[*flowcontrolv1.PriorityLevelConfiguration] {
	limited := flowcontrolv1.LimitedPriorityLevelConfiguration{}.SwaggerDoc()
	queuing := flowcontrolv1.QueuingConfiguration{}.SwaggerDoc()
	return kind.StandardColumns(
		kind.TextColumn("Type", flowcontrolv1.PriorityLevelConfigurationSpec{}.SwaggerDoc()["type"],
			func(level *flowcontrolv1.PriorityLevelConfiguration) any { return string(level.Spec.Type) }),
		kind.TextColumn("NominalConcurrencyShares", limited["nominalConcurrencyShares"], nominalSharesCell),
		kind.TextColumn("Queues", queuing["queues"],
			queuingCell(func(q *flowcontrolv1.QueuingConfiguration) int32 { return q.Queues })),
		kind.TextColumn("HandSize", queuing["handSize"],
			queuingCell(func(q *flowcontrolv1.QueuingConfiguration) int32 { return q.HandSize })),
		kind.TextColumn("QueueLengthLimit", queuing["queueLengthLimit"],
			queuingCell(func(q *flowcontrolv1.QueuingConfiguration) int32 { return q.QueueLengthLimit })),
	)
}

func nominalSharesCell(level *flowcontrolv1.PriorityLevelConfiguration) any {
	if level.Spec.Limited == nil {
		return kind.None
	}
	return int64(ptr.Deref(level.Spec.Limited.NominalConcurrencyShares, 0))
}

// queuingCell returns the function for the cells of a number of the queuing configuration.
func queuingCell(number func(*flowcontrolv1.QueuingConfiguration) int32) func(*flowcontrolv1.PriorityLevelConfiguration) any {
	return func(level *flowcontrolv1.PriorityLevelConfiguration) any {
		if level.Spec.Limited == nil || level.Spec.Limited.LimitResponse.Queuing == nil {
			return kind.None
		}
		return int64(number(level.Spec.Limited.LimitResponse.Queuing))
	}
}
