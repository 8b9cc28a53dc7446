package flowcontrol

import (
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/registry/registrytest"
)

func newSchema() *flowcontrolv1.FlowSchema {
	return &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: flowcontrolv1.FlowSchemaSpec{
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "l"},
		MatchingPrecedence:         1000,
		Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
			Subjects:         []flowcontrolv1.Subject{{Kind: "User", User: &flowcontrolv1.UserSubject{Name: "*"}}},
			ResourceRules:    []flowcontrolv1.ResourcePolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}, Namespaces: []string{"*"}}},
			NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: []string{"get"}, NonResourceURLs: []string{"/healthz/*"}}},
		}},
	}}
}

func TestFlowSchemas(t *testing.T) {
	type schema = flowcontrolv1.FlowSchema
	check := registrytest.Rules(t, newSchema, validateSchema)
	check("precedence 1 is reserved", func(s *schema) { s.Spec.MatchingPrecedence = 1 },
		"spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1")
	check("precedence has a maximum", func(s *schema) { s.Spec.MatchingPrecedence = 10001 },
		"spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000")
	check("the priority level is required", func(s *schema) { s.Spec.PriorityLevelConfiguration.Name = "" },
		"spec.priorityLevelConfiguration.name: Required value: must reference a priority level")
	check("condition types are unique", func(s *schema) {
		c := flowcontrolv1.FlowSchemaCondition{Type: flowcontrolv1.FlowSchemaConditionDangling}
		s.Status.Conditions = []flowcontrolv1.FlowSchemaCondition{c, c}
	}, `status.conditions[1].type: Duplicate value: "Dangling"`)
}

func TestFlowSchemaRules(t *testing.T) {
	const at = "spec.rules[0]"
	type rules = flowcontrolv1.PolicyRulesWithSubjects
	valid := func() *rules { return &newSchema().Spec.Rules[0] }
	check := registrytest.Rules(t, valid, func(r *rules) field.ErrorList {
		s := newSchema()
		s.Spec.Rules[0] = *r
		return validateSchema(s)
	})
	check("subjects and rules are required", func(r *rules) { *r = rules{} },
		at+".subjects: Required value: subjects must contain at least one value",
		at+": Required value: at least one of resourceRules and nonResourceRules has to be non-empty")
	check("a subject has the field of its kind", func(r *rules) { r.Subjects[0].Kind = "Group" },
		at+".subjects[0].group: Required value: group is required when subject kind is 'Group'",
		at+".subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'")
	check("verbs are known", func(r *rules) { r.ResourceRules[0].Verbs = []string{"eat"} }, at+`.resourceRules[0].verbs: Unsupported value: ["eat"]: `+
		`supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"`)
	check("a wildcard is the only item", func(r *rules) { r.ResourceRules[0].Resources = []string{"*", "pods"} },
		at+`.resourceRules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources`)
	check("namespaces are required", func(r *rules) { r.ResourceRules[0].Namespaces = nil },
		at+".resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace")
	check("clusterScope needs no namespaces", func(r *rules) { r.ResourceRules[0].Namespaces, r.ResourceRules[0].ClusterScope = nil, true })
	check("paths are absolute", func(r *rules) { r.NonResourceRules[0].NonResourceURLs[0] = "a" },
		at+`.nonResourceRules[0].nonResourceURLs[0]: Invalid value: "a": must start with slash`)
	check("a wildcard is at the end of a path", func(r *rules) { r.NonResourceRules[0].NonResourceURLs[0] = "/a*" },
		at+`.nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/a*": wildcard can only do suffix matching`)
}

func TestPriorityLevels(t *testing.T) {
	type level = flowcontrolv1.PriorityLevelConfiguration
	valid := func() *level {
		return &level{ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: "Limited", Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{LimitResponse: flowcontrolv1.LimitResponse{
				Type: "Queue", Queuing: &flowcontrolv1.QueuingConfiguration{Queues: 64, HandSize: 6, QueueLengthLimit: 50},
			}},
		}}
	}
	const limited = "spec.limited."
	check := registrytest.Rules(t, valid, validateLevel)
	queues := func(q flowcontrolv1.QueuingConfiguration) func(*level) {
		return func(l *level) { l.Spec.Limited.LimitResponse.Queuing = &q }
	}
	check("the name exempt is reserved", func(l *level) { l.Name = "exempt" },
		"spec.type: Invalid value: \"Limited\": must be 'Exempt' if and only if `name` is 'exempt'",
		`spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":null,"LimitResponse":{"Type":"Queue",`+
			`"Queuing":{"Queues":64,"HandSize":6,"QueueLengthLimit":50}},"LendablePercent":null,"BorrowingLimitPercent":null},"Exempt":null}: `+
			"spec of 'exempt' except the 'spec.exempt' field must equal the fixed value")
	check("type is required", func(l *level) { l.Spec.Type = "" },
		"spec.limited: Forbidden: must be nil if the type is not Limited", "spec.type: Required value")
	check("a type has no members of other types", func(l *level) { l.Spec.Exempt = &flowcontrolv1.ExemptPriorityLevelConfiguration{} },
		"spec.exempt: Forbidden: must be nil if the type is Limited")
	check("limited is required", func(l *level) { l.Spec.Limited = nil }, "spec.limited: Required value: must not be empty when type is Limited")
	check("percentages are in range", func(l *level) {
		l.Spec.Limited.LendablePercent, l.Spec.Limited.BorrowingLimitPercent = new(int32(101)), new(int32(-1))
	},
		limited+"lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
		limited+"borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer")
	check("type Reject has no queuing", func(l *level) { l.Spec.Limited.LimitResponse.Type = "Reject" },
		limited+"limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited")
	check("queues are positive", queues(flowcontrolv1.QueuingConfiguration{}),
		limited+"limitResponse.queuing.queueLengthLimit: Invalid value: 0: must be positive",
		limited+"limitResponse.queuing.queues: Invalid value: 0: must be positive",
		limited+"limitResponse.queuing.handSize: Invalid value: 0: must be positive")
	check("the hand size fits the hash", queues(flowcontrolv1.QueuingConfiguration{Queues: 512, HandSize: 8, QueueLengthLimit: 50}),
		limited+"limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of deckSize 512 and handSize 8 should not be greater than 60")
}

func TestMandatoryObjectsHaveFixedSpecs(t *testing.T) {
	for _, name := range []string{exempt, catchAll} {
		if errs := validateSchema(MandatoryFlowSchema(name)); len(errs) > 0 {
			t.Errorf("FlowSchema %s: %v", name, errs)
		}
		if errs := validateLevel(MandatoryPriorityLevel(name)); len(errs) > 0 {
			t.Errorf("PriorityLevelConfiguration %s: %v", name, errs)
		}
	}
	level := MandatoryPriorityLevel(exempt)
	level.Spec.Exempt = nil
	if errs := validateLevel(level); len(errs) > 0 {
		t.Errorf("the member exempt can change: %v", errs)
	}
	fixed := func(errs field.ErrorList) bool {
		return len(errs) == 1 && errs[0].Field == "spec" && errs[0].Detail == "spec of 'catch-all' must equal the fixed value"
	}
	level = MandatoryPriorityLevel(catchAll)
	level.Spec.Limited.NominalConcurrencyShares = new(int32(6))
	if errs := validateLevel(level); !fixed(errs) {
		t.Errorf("changed PriorityLevelConfiguration: %v", errs)
	}
	schema := MandatoryFlowSchema(catchAll)
	schema.Spec.MatchingPrecedence = 9
	if errs := validateSchema(schema); !fixed(errs) {
		t.Errorf("changed FlowSchema: %v", errs)
	}
}
