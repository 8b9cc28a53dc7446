package flowcontrol

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func priorityLevels() *registry.Resource {
	return kind.Definition{
		GroupVersion: flowcontrolv1.SchemeGroupVersion,
		Object:       &flowcontrolv1.PriorityLevelConfiguration{},
		List:         &flowcontrolv1.PriorityLevelConfigurationList{},
		Resource:     "prioritylevelconfigurations",
		Finalizers:   kind.Finalizers,
		Default:      kind.Defaults(defaultPriorityLevel),
		Generation:   true,
		Status:       true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateLevel)},
			Update: registry.UpdateStrategy{AllowUnconditional: true, Validate: kind.CheckAgain(validateLevel)},
		},
		StatusStrategy: kind.CheckedStatus(kind.CheckUpdate(validateLevelStatus)),
		Columns:        registry.Columns{Definitions: priorityLevelColumns(), Row: kind.Row(priorityLevelRow)},
	}.Build()
}

func priorityLevelColumns() []metav1.TableColumnDefinition {
	limited := flowcontrolv1.LimitedPriorityLevelConfiguration{}.SwaggerDoc()
	queuing := flowcontrolv1.QueuingConfiguration{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("Type", "string", flowcontrolv1.PriorityLevelConfigurationSpec{}.SwaggerDoc()["type"]),
		kind.Column("NominalConcurrencyShares", "string", limited["nominalConcurrencyShares"]),
		kind.Column("Queues", "string", queuing["queues"]),
		kind.Column("HandSize", "string", queuing["handSize"]),
		kind.Column("QueueLengthLimit", "string", queuing["queueLengthLimit"]),
		kind.AgeColumn(),
	}
}

func priorityLevelRow(level *flowcontrolv1.PriorityLevelConfiguration) []any {
	const none = "<none>"
	var shares, queues, handSize, limit any = none, none, none, none
	if limited := level.Spec.Limited; limited != nil {
		shares = int64(ptr.Deref(limited.NominalConcurrencyShares, 0))
		if queuing := limited.LimitResponse.Queuing; queuing != nil {
			queues, handSize, limit = int64(queuing.Queues), int64(queuing.HandSize), int64(queuing.QueueLengthLimit)
		}
	}
	return []any{level.Name, string(level.Spec.Type), shares, queues, handSize, limit, kind.Age(level.CreationTimestamp)}
}
