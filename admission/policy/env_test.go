package policy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// env is a server with a client.
type env struct {
	*testing.T
	client   kubernetes.Interface
	warnings servertest.Warnings
}

func start(t *testing.T) *env {
	t.Helper()
	e := &env{T: t}
	server := servertest.Start(t, miniapi.Config{})
	config := rest.CopyConfig(server.RESTConfig())
	config.WarningHandler = &e.warnings
	e.client = servertest.Client(t, config)
	return e
}

// matching returns constraints for operations on a resource of the core group.
func matching(operations, resource string) *admissionregistrationv1.MatchResources {
	rule := admissionregistrationv1.NamedRuleWithOperations{}
	rule.APIGroups, rule.APIVersions, rule.Resources = []string{""}, []string{"v1"}, []string{resource}
	for operation := range strings.FieldsSeq(operations) {
		rule.Operations = append(rule.Operations, admissionregistrationv1.OperationType(operation))
	}
	return &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{rule}}
}

// validating creates a validating policy for ConfigMaps.
func (e *env) validating(name string, spec admissionregistrationv1.ValidatingAdmissionPolicySpec) {
	e.Helper()
	if spec.MatchConstraints == nil {
		spec.MatchConstraints = matching("CREATE UPDATE", "configmaps")
	}
	must(e.T, e.client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create, &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec,
	})
}

// bind creates a binding to a policy, with the same name.
func (e *env) bind(name string, spec admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec) {
	e.Helper()
	spec.PolicyName = name
	if spec.ValidationActions == nil {
		spec.ValidationActions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
	}
	must(e.T, e.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec,
	})
}

// remove deletes the policies and bindings of a name.
func (e *env) remove(name string) {
	e.Helper()
	admissionregistration := e.client.AdmissionregistrationV1()
	for _, remove := range []func(context.Context, string, metav1.DeleteOptions) error{
		admissionregistration.ValidatingAdmissionPolicies().Delete, admissionregistration.ValidatingAdmissionPolicyBindings().Delete,
		admissionregistration.MutatingAdmissionPolicies().Delete, admissionregistration.MutatingAdmissionPolicyBindings().Delete,
	} {
		if err := remove(e.Context(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			e.Fatal(err)
		}
	}
}

// mutating creates a mutating policy for ConfigMaps and a binding of the same name.
func (e *env) mutating(name string, spec admissionregistrationv1.MutatingAdmissionPolicySpec, binding admissionregistrationv1.MutatingAdmissionPolicyBindingSpec) {
	e.Helper()
	if spec.MatchConstraints == nil {
		spec.MatchConstraints = matching("CREATE UPDATE", "configmaps")
	}
	if spec.ReinvocationPolicy == "" {
		spec.ReinvocationPolicy = admissionregistrationv1.NeverReinvocationPolicy
	}
	must(e.T, e.client.AdmissionregistrationV1().MutatingAdmissionPolicies().Create, &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec,
	})
	binding.PolicyName = name
	must(e.T, e.client.AdmissionregistrationV1().MutatingAdmissionPolicyBindings().Create, &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: binding,
	})
}

func apply(expression string) admissionregistrationv1.Mutation {
	return admissionregistrationv1.Mutation{
		PatchType:          admissionregistrationv1.PatchTypeApplyConfiguration,
		ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: expression},
	}
}

func jsonPatch(expression string) admissionregistrationv1.Mutation {
	return admissionregistrationv1.Mutation{
		PatchType: admissionregistrationv1.PatchTypeJSONPatch,
		JSONPatch: &admissionregistrationv1.JSONPatch{Expression: expression},
	}
}

func validations(expressions ...string) []admissionregistrationv1.Validation {
	list := make([]admissionregistrationv1.Validation, len(expressions))
	for i, text := range expressions {
		list[i].Expression = text
	}
	return list
}

func configMap(name string, data ...string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
	if len(data) > 0 {
		c.Data = map[string]string{data[0]: data[1]}
	}
	return c
}

// dryCreate creates a ConfigMap as a dry run.
func (e *env) dryCreate(c *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	return e.client.CoreV1().ConfigMaps(c.Namespace).Create(e.Context(), c, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

func must[T any](t *testing.T, create func(context.Context, T, metav1.CreateOptions) (T, error), obj T) T {
	t.Helper()
	created, err := create(t.Context(), obj, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// wantStatus checks the status of an error, or with code 0 that there is none.
func wantStatus(t *testing.T, err error, code int32, reason metav1.StatusReason, message string) {
	t.Helper()
	if code == 0 {
		if err != nil {
			t.Error(err)
		}
		return
	}
	servertest.WantStatus(t, err, code, reason, message)
}

func statusCode(err error) int32 {
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		return status.ErrStatus.Code
	}
	return 0
}
