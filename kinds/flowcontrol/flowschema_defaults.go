package flowcontrol

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultFlowSchema(schema *flowcontrolv1.FlowSchema) {
	kind.SetDefault(&schema.Spec.MatchingPrecedence, 1000)
}
