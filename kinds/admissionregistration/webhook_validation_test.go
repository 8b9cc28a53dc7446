package admissionregistration

import (
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func newWebhooks() *admissionregistrationv1.ValidatingWebhookConfiguration {
	c := &admissionregistrationv1.ValidatingWebhookConfiguration{Webhooks: []webhook{{
		Name:         "a.exam.org",
		ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "n", Name: "s"}},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{"CREATE"},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		}},
		SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"},
	}}}
	defaultValidatingWebhooks(c)
	return c
}

func TestWebhooks(t *testing.T) {
	const at = "webhooks[0]."
	valid := func() *webhook { return &newWebhooks().Webhooks[0] }
	check := registrytest.Rules(t, valid, func(w *webhook) field.ErrorList {
		c := newWebhooks()
		c.Webhooks[0] = *w
		return validateValidatingWebhooks(c)
	})
	check("names are qualified", func(w *webhook) { w.Name = "a" },
		at+`name: Invalid value: "a": should be a domain with at least three segments separated by dots`)
	check("sideEffects are None or NoneOnDryRun", func(w *webhook) { w.SideEffects = new(admissionregistrationv1.SideEffectClassSome) },
		at+`sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`)
	check("sideEffects is required", func(w *webhook) { w.SideEffects = nil },
		at+"sideEffects: Required value: must specify one of None, NoneOnDryRun")
	check("the timeout has a maximum", func(w *webhook) { w.TimeoutSeconds = new(int32(31)) },
		at+"timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds")
	check("failure policies are known", func(w *webhook) { w.FailurePolicy = new(admissionregistrationv1.FailurePolicyType("x")) },
		at+`failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore"`)
	check("a review version is required", func(w *webhook) { w.AdmissionReviewVersions = nil },
		at+"admissionReviewVersions: Required value: must specify one of v1, v1beta1")
	check("a known review version is required", func(w *webhook) { w.AdmissionReviewVersions = []string{"v2"} },
		at+`admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1`)
	check("review versions are unique", func(w *webhook) { w.AdmissionReviewVersions = []string{"v1", "v1"} },
		at+`admissionReviewVersions[1]: Invalid value: "v1": duplicate version`)
	check("match conditions have names and expressions", func(w *webhook) { w.MatchConditions = make([]admissionregistrationv1.MatchCondition, 1) },
		at+"matchConditions[0].expression: Required value", at+"matchConditions[0].name: Required value")
	check("names of match conditions are unique", func(w *webhook) {
		w.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "a", Expression: "true"}, {Name: "a", Expression: "true"}}
	}, at+`matchConditions[1].name: Duplicate value: "a"`)
}

func TestWebhookClientConfig(t *testing.T) {
	const at = "webhooks[0].clientConfig"
	type client = admissionregistrationv1.WebhookClientConfig
	valid := func() *client { return &newWebhooks().Webhooks[0].ClientConfig }
	check := registrytest.Rules(t, valid, func(client *client) field.ErrorList {
		c := newWebhooks()
		c.Webhooks[0].ClientConfig = *client
		return validateValidatingWebhooks(c)
	})
	url := func(text string) func(*client) { return func(c *client) { *c = client{URL: new(text)} } }
	path := func(text string) func(*client) { return func(c *client) { c.Service.Path = new(text) } }
	check("a URL or a service is required", func(c *client) { *c = client{} }, at+": Required value: exactly one of url or service is required")
	check("a URL excludes a service", func(c *client) { c.URL = new("https://a") }, at+": Required value: exactly one of url or service is required")
	check("an https URL", url("https://exam.org/a"))
	check("other schemes and parts of URLs are rejected", url("http://u:p@exam.org/a?b#c"),
		at+`.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
		at+`.url: Invalid value: "u:p": user information is not permitted in the URL`,
		at+`.url: Invalid value: "c": fragments are not permitted in the URL`,
		at+`.url: Invalid value: "b": query parameters are not permitted in the URL`)
	check("a URL has a host", url("https:///a"), at+`.url: Invalid value: "": host must be specified; desired format: https://host[/path]`)
	check("service ports are in range", func(c *client) { c.Service.Port = new(int32(0)) },
		at+".service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive")
	check("a path", path("/a/b"))
	check("path segments are not empty", path("/a//b"), at+`.service.path: Invalid value: "/a//b": segment[1] may not be empty`)
	check("paths are absolute", path("a"), at+`.service.path: Invalid value: "a": must start with a '/'`,
		at+`.service.path: Invalid value: "a": segment[0] may not be empty`)
}

func TestRules(t *testing.T) {
	const at = "webhooks[0].rules[0]."
	type rule = admissionregistrationv1.RuleWithOperations
	valid := func() *rule { return &newWebhooks().Webhooks[0].Rules[0] }
	check := registrytest.Rules(t, valid, func(r *rule) field.ErrorList {
		c := newWebhooks()
		c.Webhooks[0].Rules[0] = *r
		return validateValidatingWebhooks(c)
	})
	resources := func(names ...string) func(*rule) { return func(r *rule) { r.Resources = names } }
	check("an empty rule", func(r *rule) { *r = rule{} },
		at+"operations: Required value", at+"apiGroups: Required value", at+"apiVersions: Required value", at+"resources: Required value")
	check("operations are known", func(r *rule) { r.Operations[0] = "GET" },
		at+`operations[0]: Unsupported value: "GET": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`)
	check("a wildcard is the only group", func(r *rule) { r.APIGroups = []string{"*", "apps"} },
		at+`apiGroups: Invalid value: ["*","apps"]: if '*' is present, must not specify other API groups`)
	check("resources and subresources", resources("*", "*/status"))
	check("pods/* includes pods/status", resources("pods/*", "pods/status"),
		at+`resources[1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status`)
	check("*/status includes pods/status", resources("*/status", "pods/status"),
		at+`resources[1]: Invalid value: "pods/status": if '*/status' is present, must not specify pods/status`)
	check("*/* includes pods", resources("*/*", "pods"),
		at+`resources: Invalid value: ["*/*","pods"]: if '*/*' is present, must not specify other resources`)
	check("* includes pods", resources("*", "pods"),
		at+`resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`)
}

func TestWebhooksRatchetErrors(t *testing.T) {
	old := newWebhooks()
	old.Webhooks = append(old.Webhooks, *old.Webhooks[0].DeepCopy())
	old.Webhooks[0].SideEffects = new(admissionregistrationv1.SideEffectClassUnknown)
	old.Webhooks[1].AdmissionReviewVersions = []string{"v2"}
	if got := registrytest.Texts(validateValidatingWebhooksUpdate(old, old)); got != nil {
		t.Errorf("existing errors: %q", got)
	}
	if got := registrytest.Texts(validateValidatingWebhooksUpdate(old, newWebhooks())); len(got) != 3 {
		t.Errorf("new errors: %q", got)
	}
}

func TestReinvocationPolicy(t *testing.T) {
	c := &admissionregistrationv1.MutatingWebhookConfiguration{Webhooks: []admissionregistrationv1.MutatingWebhook{{
		ReinvocationPolicy: new(admissionregistrationv1.ReinvocationPolicyType("x")),
	}}}
	got := registrytest.Texts(validateMutatingWebhooks(c))
	want := `webhooks[0].reinvocationPolicy: Unsupported value: "x": supported values: "IfNeeded", "Never"`
	if len(got) == 0 || got[len(got)-1] != want {
		t.Errorf("got %q, want %s at last", got, want)
	}
}

func TestReservedNames(t *testing.T) {
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "a.static.k8s.io"}}
	for release, want := range map[feature.Release]string{
		36: "",
		37: `metadata.name: Invalid value: "a.static.k8s.io": ` + manifestName,
	} {
		strategy := validatingWebhookConfigurations(feature.At(release)).Strategy
		got := ""
		if err := strategy.Create.Validate(t.Context(), config).ToAggregate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: a create: got %s, want %s", release, got, want)
		}
		warnings := strategy.Update.Warnings(t.Context(), config, config)
		if len(warnings) != 1 || warnings[0] != "metadata.name: "+manifestName {
			t.Errorf("%s: an update: got the warnings %q", release, warnings)
		}
	}
}

func TestWarningsOfRulesForReviews(t *testing.T) {
	rule := func(group string, resources ...string) admissionregistrationv1.RuleWithOperations {
		return admissionregistrationv1.RuleWithOperations{Rule: admissionregistrationv1.Rule{APIGroups: []string{group}, Resources: resources}}
	}
	config := &admissionregistrationv1.MutatingWebhookConfiguration{Webhooks: []admissionregistrationv1.MutatingWebhook{{
		Rules: []admissionregistrationv1.RuleWithOperations{
			rule("authorization.k8s.io", "*"), rule("authentication.k8s.io", "tokenreviews", "tokenreviews"), rule("*", "tokenreviews"), rule("", "tokenreviews"),
		},
	}}}
	strategy := mutatingWebhookConfigurations(feature.Default()).Strategy
	want := []string{"webhooks[0].rules[1]: tokenreviews.authentication.k8s.io is excluded from admission webhooks; this rule will have no effect"}
	if got := strategy.Create.Warnings(t.Context(), config); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := mutatingWebhookConfigurations(feature.At(36)).Strategy.Create.Warnings(t.Context(), config); len(got) > 0 {
		t.Errorf("1.36: got %q", got)
	}
}
