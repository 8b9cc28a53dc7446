package flowcontrol

import (
	"fmt"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// The names of the mandatory FlowSchemas and of their priority levels: exempt is for requests that
// are not limited, catchAll for requests that no other FlowSchema matches.
const (
	exempt   = "exempt"
	catchAll = "catch-all"
)

// MandatoryNames returns the names of the mandatory FlowSchemas, which are also the names of their
// priority levels.
func MandatoryNames() []string { return []string{exempt, catchAll} }

// MandatoryFlowSchema returns the FlowSchema that every server has by this name, nil for other
// names.
func MandatoryFlowSchema(name string) *flowcontrolv1.FlowSchema {
	spec := flowcontrolv1.FlowSchemaSpec{
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: name},
	}
	switch name {
	case exempt:
		spec.MatchingPrecedence = 1
		spec.Rules = everything("system:masters")
	case catchAll:
		spec.MatchingPrecedence = flowcontrolv1.FlowSchemaMaxMatchingPrecedence
		spec.DistinguisherMethod = &flowcontrolv1.FlowDistinguisherMethod{Type: flowcontrolv1.FlowDistinguisherMethodByUserType}
		spec.Rules = everything("system:unauthenticated", "system:authenticated")
	default:
		return nil
	}
	return &flowcontrolv1.FlowSchema{ObjectMeta: mandatoryMeta(name), Spec: spec}
}

// MandatoryPriorityLevel returns the PriorityLevelConfiguration that every server has by this name,
// nil for other names.
func MandatoryPriorityLevel(name string) *flowcontrolv1.PriorityLevelConfiguration {
	var spec flowcontrolv1.PriorityLevelConfigurationSpec
	switch name {
	case exempt:
		spec.Type = flowcontrolv1.PriorityLevelEnablementExempt
		spec.Exempt = &flowcontrolv1.ExemptPriorityLevelConfiguration{
			NominalConcurrencyShares: new(int32(0)), LendablePercent: new(int32(0)),
		}
	case catchAll:
		spec.Type = flowcontrolv1.PriorityLevelEnablementLimited
		spec.Limited = &flowcontrolv1.LimitedPriorityLevelConfiguration{
			NominalConcurrencyShares: new(int32(5)), LendablePercent: new(int32(0)),
			LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
		}
	default:
		return nil
	}
	return &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: mandatoryMeta(name), Spec: spec}
}

func mandatoryMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Annotations: map[string]string{flowcontrolv1.AutoUpdateAnnotationKey: "true"}}
}

// everything returns the rules that match all requests of some groups.
func everything(groups ...string) []flowcontrolv1.PolicyRulesWithSubjects {
	all := []string{"*"}
	rules := flowcontrolv1.PolicyRulesWithSubjects{
		ResourceRules: []flowcontrolv1.ResourcePolicyRule{
			{Verbs: all, APIGroups: all, Resources: all, Namespaces: all, ClusterScope: true},
		},
		NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: all, NonResourceURLs: all}},
	}
	for _, name := range groups {
		rules.Subjects = append(rules.Subjects, flowcontrolv1.Subject{
			Kind: flowcontrolv1.SubjectKindGroup, Group: &flowcontrolv1.GroupSubject{Name: name},
		})
	}
	return []flowcontrolv1.PolicyRulesWithSubjects{rules}
}

func validateMandatorySchema(s *flowcontrolv1.FlowSchema, at *field.Path) field.ErrorList {
	required := MandatoryFlowSchema(s.Name)
	if required == nil || equality.Semantic.DeepEqual(s.Spec, required.Spec) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, kind.GoJSON(s.Spec), fmt.Sprintf("spec of '%s' must equal the fixed value", s.Name))}
}

// validateMandatoryLevel accepts any member exempt of the level of that name.
func validateMandatoryLevel(l *flowcontrolv1.PriorityLevelConfiguration, at *field.Path) field.ErrorList {
	required := MandatoryPriorityLevel(l.Name)
	if required == nil {
		return nil
	}
	text := "spec of '%s' must equal the fixed value"
	if l.Name == exempt {
		text = "spec of '%s' except the 'spec.exempt' field must equal the fixed value"
		required.Spec.Exempt = l.Spec.Exempt
	}
	if equality.Semantic.DeepEqual(l.Spec, required.Spec) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, kind.GoJSON(l.Spec), fmt.Sprintf(text, l.Name))}
}
