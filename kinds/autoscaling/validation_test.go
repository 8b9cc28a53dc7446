package autoscaling

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

func TestAutoscalers(t *testing.T) {
	target := autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "d"}
	for _, tc := range []struct {
		rule string
		spec autoscalingv2.HorizontalPodAutoscalerSpec
		want []string
	}{
		{"a target and a maximum are enough", autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: target, MaxReplicas: 1}, nil},
		{"the maximum is no less than the minimum",
			autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: target, MinReplicas: new(int32(3)), MaxReplicas: 2},
			[]string{"spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`"}},
		{"neither is none, and something is scaled", autoscalingv2.HorizontalPodAutoscalerSpec{MinReplicas: new(int32(0))}, []string{
			"spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
			"spec.maxReplicas: Invalid value: 0: must be greater than 0",
			"spec.scaleTargetRef.kind: Required value",
			"spec.scaleTargetRef.name: Required value",
		}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			var got []string
			for _, err := range validateAutoscaler(&autoscalingv2.HorizontalPodAutoscaler{Spec: tc.spec}) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
