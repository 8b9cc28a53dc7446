package flowcontrol

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultFlowSchema(schema *flowcontrolv1.FlowSchema) {
	kind.Fill(&schema.Spec.MatchingPrecedence, 1000)
}

func defaultPriorityLevel(level *flowcontrolv1.PriorityLevelConfiguration) {
	if exempt := level.Spec.Exempt; exempt != nil {
		kind.FillNil(&exempt.NominalConcurrencyShares, 0)
		kind.FillNil(&exempt.LendablePercent, 0)
	}
	limited := level.Spec.Limited
	if limited == nil {
		return
	}
	kind.FillNil(&limited.NominalConcurrencyShares, 30)
	kind.FillNil(&limited.LendablePercent, 0)
	if queuing := limited.LimitResponse.Queuing; queuing != nil {
		kind.Fill(&queuing.Queues, 64)
		kind.Fill(&queuing.HandSize, 8)
		kind.Fill(&queuing.QueueLengthLimit, 50)
	}
}
