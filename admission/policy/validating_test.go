package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deniedBy is the prefix of denials of the policy p.
const deniedBy = `configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: `

func TestValidations(t *testing.T) {
	e := start(t)
	forbidden := metav1.StatusReasonForbidden
	for _, c := range []struct {
		rule    string
		spec    admissionregistrationv1.ValidatingAdmissionPolicySpec
		code    int32
		reason  metav1.StatusReason
		message string
	}{
		{"true admits the request", admissionregistrationv1.ValidatingAdmissionPolicySpec{
			Validations: validations(`object.data.size == "big"`, `request.name == "c" && namespaceObject.metadata.name == "default"`, `oldObject == null`),
		}, 0, "", ""},
		{"false denies the request", admissionregistrationv1.ValidatingAdmissionPolicySpec{Validations: validations(` object.data.size == "small" `)},
			422, metav1.StatusReasonInvalid, deniedBy + `failed expression: object.data.size == "small"`},
		{"message and reason", admissionregistrationv1.ValidatingAdmissionPolicySpec{
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: "no", Reason: &forbidden}},
		}, 403, forbidden, deniedBy + "no"},
		{"a messageExpression takes precedence", admissionregistrationv1.ValidatingAdmissionPolicySpec{
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: "no", MessageExpression: `"not " + object.data.size`}},
		}, 422, metav1.StatusReasonInvalid, deniedBy + "not big"},
		{"an invalid result of a messageExpression is ignored", admissionregistrationv1.ValidatingAdmissionPolicySpec{
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: "no", MessageExpression: `"two\nlines"`}},
		}, 422, metav1.StatusReasonInvalid, deniedBy + "no"},
		{"variables can use the variables before them", admissionregistrationv1.ValidatingAdmissionPolicySpec{
			Variables: []admissionregistrationv1.Variable{
				{Name: "size", Expression: "object.data.size"}, {Name: "big", Expression: `variables.size == "big"`},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: "!variables.big", MessageExpression: `"is " + variables.size`}},
		}, 422, metav1.StatusReasonInvalid, deniedBy + "is big"},
		{"an evaluation error denies the request", admissionregistrationv1.ValidatingAdmissionPolicySpec{Validations: validations(`object.data.none == "x"`)},
			422, metav1.StatusReasonInvalid, deniedBy + `expression 'object.data.none == "x"' resulted in error: no such key: none`},
		{"an evaluation error with failure policy Ignore", admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: new(admissionregistrationv1.Ignore), Validations: validations(`object.data.none == "x"`),
		}, 0, "", ""},
		{"match conditions are evaluated first", admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "c", Expression: `object.data.size == "small"`}}, Validations: validations("false"),
		}, 0, "", ""},
		{"the variable authorizer", admissionregistrationv1.ValidatingAdmissionPolicySpec{
			Validations: validations(`authorizer.requestResource.check("create").allowed()`),
		}, 0, "", ""},
		{"an evaluation error of an audit annotation", admissionregistrationv1.ValidatingAdmissionPolicySpec{
			AuditAnnotations: []admissionregistrationv1.AuditAnnotation{{Key: "k", ValueExpression: "string(object.data.none)"}},
		}, 422, metav1.StatusReasonInvalid, deniedBy + `expression 'string(object.data.none)' resulted in error: no such key: none`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			e.validating("p", c.spec)
			e.bind("p", admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{})
			_, err := e.dryCreate(configMap("c", "size", "big"))
			wantStatus(t, err, c.code, c.reason, c.message)
			e.remove("p")
			_, err = e.dryCreate(configMap("c", "size", "big"))
			wantStatus(t, err, 0, "", "")
		})
	}
}

// An expression that exceeds the cost of one call is an evaluation error.
func TestCostOfExpressionsIsLimited(t *testing.T) {
	e := start(t)
	// A search in a long text has a high cost and takes little time.
	search := "[" + strings.Repeat("1,", 150) + "].all(a, !object.data.text.contains('b'))"
	e.validating("p", admissionregistrationv1.ValidatingAdmissionPolicySpec{Validations: validations(search)})
	e.bind("p", admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{})
	_, err := e.dryCreate(configMap("c", "text", strings.Repeat("a", 1000)))
	wantStatus(t, err, 0, "", "")
	_, err = e.dryCreate(configMap("c", "text", strings.Repeat("a", 100_000)))
	wantStatus(t, err, 422, metav1.StatusReasonInvalid, deniedBy+"expression '"+search+"' resulted in error: operation cancelled: actual cost limit exceeded")
}

func TestValidationActions(t *testing.T) {
	e := start(t)
	e.validating("p", admissionregistrationv1.ValidatingAdmissionPolicySpec{Validations: validations("false")})
	_, err := e.dryCreate(configMap("c"))
	wantStatus(t, err, 0, "", "") // no binding
	e.bind("p", admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Warn, admissionregistrationv1.Audit},
	})
	_, err = e.dryCreate(configMap("c"))
	wantStatus(t, err, 0, "", "")
	want := []string{"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': failed expression: false"}
	if diff := cmp.Diff(want, e.warnings.Take()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestDeletionsAreValidated(t *testing.T) {
	e := start(t)
	must(t, e.client.CoreV1().ConfigMaps("default").Create, configMap("c", "keep", "yes"))
	e.validating("p", admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: matching("DELETE", "configmaps"), Validations: validations(`object == null && oldObject.data.keep != "yes"`),
	})
	e.bind("p", admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{})
	err := e.client.CoreV1().ConfigMaps("default").Delete(t.Context(), "c", metav1.DeleteOptions{})
	wantStatus(t, err, 422, metav1.StatusReasonInvalid, deniedBy+`failed expression: object == null && oldObject.data.keep != "yes"`)
}

func TestBindingsNarrowTheMatch(t *testing.T) {
	e := start(t)
	must(t, e.client.CoreV1().Namespaces().Create, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "strict", Labels: map[string]string{"strict": "yes"}}})
	e.validating("p", admissionregistrationv1.ValidatingAdmissionPolicySpec{Validations: validations("false")})
	resources := matching("*", "configmaps")
	resources.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"strict": "yes"}}
	resources.ExcludeResourceRules = matching("*", "configmaps").ResourceRules
	resources.ExcludeResourceRules[0].ResourceNames = []string{"exempt"}
	e.bind("p", admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{MatchResources: resources})
	for _, c := range []struct {
		namespace, name string
		code            int32
	}{{"default", "c", 0}, {"strict", "exempt", 0}, {"strict", "c", 422}} {
		object := configMap(c.name)
		object.Namespace = c.namespace
		_, err := e.dryCreate(object)
		wantStatus(t, err, c.code, metav1.StatusReasonInvalid, deniedBy+"failed expression: false")
	}
}

func TestParams(t *testing.T) {
	e := start(t)
	e.validating("p", admissionregistrationv1.ValidatingAdmissionPolicySpec{
		ParamKind: &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"},
		Validations: []admissionregistrationv1.Validation{{
			Expression: "params == null || object.data.size == params.data.size", MessageExpression: `"not as " + params.kind + " " + params.metadata.name`,
		}},
		MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "c", Expression: `!has(object.metadata.labels)`}},
	})
	for name, size := range map[string]string{"small": "small", "large": "big"} {
		param := configMap(name, "size", size)
		param.Labels = map[string]string{"param": "yes"}
		must(t, e.client.CoreV1().ConfigMaps("default").Create, param)
	}
	deny, allow := admissionregistrationv1.DenyAction, admissionregistrationv1.AllowAction
	for _, c := range []struct {
		rule    string
		ref     *admissionregistrationv1.ParamRef
		message string
	}{
		{"no params", nil, ""},
		{"a name, in the namespace of the request", &admissionregistrationv1.ParamRef{Name: "large", ParameterNotFoundAction: &deny}, ""},
		{"a name in another namespace", &admissionregistrationv1.ParamRef{Name: "small", Namespace: "default", ParameterNotFoundAction: &deny}, "not as ConfigMap small"},
		{"a selector", &admissionregistrationv1.ParamRef{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"param": "yes"}}, ParameterNotFoundAction: &deny,
		}, "not as ConfigMap small"},
		{"missing params are denied", &admissionregistrationv1.ParamRef{Name: "none", ParameterNotFoundAction: &deny},
			"failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"},
		{"missing params are allowed", &admissionregistrationv1.ParamRef{Name: "none", ParameterNotFoundAction: &allow}, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			bindings := e.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
			e.bind("p", admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{ParamRef: c.ref})
			_, err := e.dryCreate(configMap("c", "size", "big"))
			if c.message == "" {
				wantStatus(t, err, 0, "", "")
			} else {
				wantStatus(t, err, 422, metav1.StatusReasonInvalid, deniedBy+c.message)
			}
			if err := bindings.Delete(t.Context(), "p", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestUnknownParamKind(t *testing.T) {
	e := start(t)
	e.validating("p", admissionregistrationv1.ValidatingAdmissionPolicySpec{
		ParamKind: &admissionregistrationv1.ParamKind{APIVersion: "example.com/v1", Kind: "None"}, Validations: validations("true"),
	})
	e.bind("p", admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		ParamRef: &admissionregistrationv1.ParamRef{Name: "x", ParameterNotFoundAction: new(admissionregistrationv1.DenyAction)},
	})
	_, err := e.dryCreate(configMap("c"))
	wantStatus(t, err, 422, metav1.StatusReasonInvalid, `configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' denied request: `+
		`failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=None'`)
}
