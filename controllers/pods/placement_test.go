package pods

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSelectsNode(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"zone": "x", "cores": "8", "text": "t"}}}
	expression := func(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
	}
	name := func(operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: operator, Values: values}}}
	}
	both := expression("zone", corev1.NodeSelectorOpIn, "x")
	both.MatchFields = name(corev1.NodeSelectorOpIn, "b").MatchFields
	for rule, c := range map[string]struct {
		selector map[string]string
		terms    []corev1.NodeSelectorTerm
		want     bool
	}{
		"without requirements":               {want: true},
		"a selected label":                   {selector: map[string]string{"zone": "x"}, want: true},
		"another value of the label":         {selector: map[string]string{"zone": "y"}},
		"an absent label":                    {selector: map[string]string{"rack": ""}},
		"In":                                 {terms: []corev1.NodeSelectorTerm{expression("zone", corev1.NodeSelectorOpIn, "y", "x")}, want: true},
		"In without the value":               {terms: []corev1.NodeSelectorTerm{expression("zone", corev1.NodeSelectorOpIn, "y")}},
		"NotIn":                              {terms: []corev1.NodeSelectorTerm{expression("zone", corev1.NodeSelectorOpNotIn, "x")}},
		"NotIn of an absent label":           {terms: []corev1.NodeSelectorTerm{expression("rack", corev1.NodeSelectorOpNotIn, "x")}, want: true},
		"Exists":                             {terms: []corev1.NodeSelectorTerm{expression("zone", corev1.NodeSelectorOpExists)}, want: true},
		"DoesNotExist":                       {terms: []corev1.NodeSelectorTerm{expression("zone", corev1.NodeSelectorOpDoesNotExist)}},
		"Gt":                                 {terms: []corev1.NodeSelectorTerm{expression("cores", corev1.NodeSelectorOpGt, "7")}, want: true},
		"Gt of an equal value":               {terms: []corev1.NodeSelectorTerm{expression("cores", corev1.NodeSelectorOpGt, "8")}},
		"Lt":                                 {terms: []corev1.NodeSelectorTerm{expression("cores", corev1.NodeSelectorOpLt, "9")}, want: true},
		"Lt of a value that is no integer":   {terms: []corev1.NodeSelectorTerm{expression("text", corev1.NodeSelectorOpLt, "9")}},
		"the name of the node":               {terms: []corev1.NodeSelectorTerm{name(corev1.NodeSelectorOpIn, "a")}, want: true},
		"the name of another node":           {terms: []corev1.NodeSelectorTerm{name(corev1.NodeSelectorOpIn, "b")}},
		"an empty term matches no node":      {terms: []corev1.NodeSelectorTerm{{}}},
		"one of the terms is sufficient":     {terms: []corev1.NodeSelectorTerm{{}, name(corev1.NodeSelectorOpIn, "a")}, want: true},
		"all requirements of a term are met": {terms: []corev1.NodeSelectorTerm{both}},
		"no terms match no node":             {terms: []corev1.NodeSelectorTerm{}},
	} {
		spec := &corev1.PodSpec{NodeSelector: c.selector}
		if c.terms != nil {
			spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: c.terms},
			}}
		}
		if got := SelectsNode(spec, node); got != c.want {
			t.Errorf("%s: %v", rule, got)
		}
	}
}

func TestUntoleratedTaint(t *testing.T) {
	taints := []corev1.Taint{{Key: "soft", Effect: corev1.TaintEffectPreferNoSchedule}, {Key: "hard", Value: "v", Effect: corev1.TaintEffectNoSchedule}}
	for rule, c := range map[string]struct {
		tolerations []corev1.Toleration
		want        bool
	}{
		"without a toleration":    {nil, true},
		"an equal value":          {[]corev1.Toleration{{Key: "hard", Value: "v"}}, false},
		"another value":           {[]corev1.Toleration{{Key: "hard", Value: "w"}}, true},
		"every value":             {[]corev1.Toleration{{Key: "hard", Operator: corev1.TolerationOpExists}}, false},
		"every taint":             {[]corev1.Toleration{{Operator: corev1.TolerationOpExists}}, false},
		"another effect":          {[]corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}}, true},
		"one of the tolerations":  {[]corev1.Toleration{{Key: "x"}, {Key: "hard", Value: "v"}}, false},
		"only the listed effects": {[]corev1.Toleration{{Key: "hard", Value: "v"}, {Key: "x"}}, false},
	} {
		taint, got := UntoleratedTaint(c.tolerations, taints, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)
		if got != c.want || got && taint.Key != "hard" {
			t.Errorf("%s: %v %v", rule, taint, got)
		}
	}
}
