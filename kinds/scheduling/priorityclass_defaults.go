package scheduling

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultPriorityClass(class *schedulingv1.PriorityClass) {
	kind.SetDefaultPointer(&class.PreemptionPolicy, corev1.PreemptLowerPriority)
}
