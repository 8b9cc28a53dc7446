package apps

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

// scaling returns the scale of a kind with a label selector.
func scaling(replicas **int32, current int32, selector *metav1.LabelSelector) (kind.Scaling, error) {
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return kind.Scaling{}, err
	}
	return kind.Scaling{Replicas: replicas, Current: current, Selector: s.String()}, nil
}

func number(replicas *int32) int64 {
	if replicas == nil {
		return 0
	}
	return int64(*replicas)
}
