package flowcontrol

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultPriorityLevel(level *flowcontrolv1.PriorityLevelConfiguration) {
	if exempt := level.Spec.Exempt; exempt != nil {
		kind.SetDefaultPointer(&exempt.NominalConcurrencyShares, 0)
		kind.SetDefaultPointer(&exempt.LendablePercent, 0)
	}
	limited := level.Spec.Limited
	if limited == nil {
		return
	}
	kind.SetDefaultPointer(&limited.NominalConcurrencyShares, 30)
	kind.SetDefaultPointer(&limited.LendablePercent, 0)
	if queuing := limited.LimitResponse.Queuing; queuing != nil {
		kind.SetDefault(&queuing.Queues, 64)
		kind.SetDefault(&queuing.HandSize, 8)
		kind.SetDefault(&queuing.QueueLengthLimit, 50)
	}
}
