package admissionregistration

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/kind"
)

// webhook holds the fields that mutating and validating webhooks have in common.
type webhook = admissionregistrationv1.ValidatingWebhook

// reviewVersions are the versions of AdmissionReview that webhooks may be called with.
var reviewVersions = []string{"v1", "v1beta1"}

// ratchet holds the rules that an update may violate because the stored object does.
type ratchet struct {
	sideEffects bool // side effects on dry runs
	versions    bool // no supported review version
	names       bool // duplicate names
}

func ratchetOf(old []webhook) ratchet {
	var t ratchet
	names := sets.New[string]()
	for _, w := range old {
		t.sideEffects = t.sideEffects || w.SideEffects == nil || !slices.Contains(noSideEffects, *w.SideEffects)
		t.versions = t.versions || len(w.AdmissionReviewVersions) > 0 && !supportsReview(w.AdmissionReviewVersions)
		t.names = t.names || names.Has(w.Name)
		names.Insert(w.Name)
	}
	return t
}

func supportsReview(versions []string) bool {
	return slices.ContainsFunc(versions, func(v string) bool { return slices.Contains(reviewVersions, v) })
}

var noSideEffects = []admissionregistrationv1.SideEffectClass{
	admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.SideEffectClassNoneOnDryRun,
}

var allSideEffects = []admissionregistrationv1.SideEffectClass{
	admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.SideEffectClassNoneOnDryRun,
	admissionregistrationv1.SideEffectClassSome, admissionregistrationv1.SideEffectClassUnknown,
}

func validateValidatingWebhooks(c *admissionregistrationv1.ValidatingWebhookConfiguration) field.ErrorList {
	return validateWebhooks(c.Webhooks, ratchet{})
}

func validateValidatingWebhooksUpdate(c, old *admissionregistrationv1.ValidatingWebhookConfiguration) field.ErrorList {
	return validateWebhooks(c.Webhooks, ratchetOf(old.Webhooks))
}

func validateMutatingWebhooks(c *admissionregistrationv1.MutatingWebhookConfiguration) field.ErrorList {
	return append(validateWebhooks(commonOf(c.Webhooks), ratchet{}), validateReinvocation(c.Webhooks)...)
}

func validateMutatingWebhooksUpdate(c, old *admissionregistrationv1.MutatingWebhookConfiguration) field.ErrorList {
	return append(validateWebhooks(commonOf(c.Webhooks), ratchetOf(commonOf(old.Webhooks))), validateReinvocation(c.Webhooks)...)
}

func commonOf(webhooks []admissionregistrationv1.MutatingWebhook) []webhook {
	list := make([]webhook, len(webhooks))
	for i, w := range webhooks {
		list[i] = webhook{
			Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules, FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy,
			NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector, SideEffects: w.SideEffects,
			TimeoutSeconds: w.TimeoutSeconds, AdmissionReviewVersions: w.AdmissionReviewVersions, MatchConditions: w.MatchConditions,
		}
	}
	return list
}

func validateReinvocation(webhooks []admissionregistrationv1.MutatingWebhook) field.ErrorList {
	var errs field.ErrorList
	for i, w := range webhooks {
		errs = append(errs, kind.SupportedIfSet(field.NewPath("webhooks").Index(i).Child("reinvocationPolicy"), w.ReinvocationPolicy,
			admissionregistrationv1.IfNeededReinvocationPolicy, admissionregistrationv1.NeverReinvocationPolicy)...)
	}
	return errs
}

func validateWebhooks(webhooks []webhook, may ratchet) field.ErrorList {
	var errs field.ErrorList
	names := sets.New[string]()
	for i := range webhooks {
		w, at := &webhooks[i], field.NewPath("webhooks").Index(i)
		errs = append(errs, validateWebhook(w, may, at)...)
		errs = append(errs, validateReviewVersions(w.AdmissionReviewVersions, may.versions, at.Child("admissionReviewVersions"))...)
		if w.Name != "" && names.Has(w.Name) && !may.names {
			errs = append(errs, field.Duplicate(at.Child("name"), w.Name))
		}
		names.Insert(w.Name)
	}
	return errs
}

func validateWebhook(w *webhook, may ratchet, at *field.Path) field.ErrorList {
	errs := utilvalidation.IsFullyQualifiedName(at.Child("name"), w.Name)
	for i := range w.Rules {
		errs = append(errs, validateRule(&w.Rules[i], at.Child("rules").Index(i))...)
	}
	return slices.Concat(errs,
		kind.SupportedIfSet(at.Child("failurePolicy"), w.FailurePolicy, admissionregistrationv1.Fail, admissionregistrationv1.Ignore),
		kind.SupportedIfSet(at.Child("matchPolicy"), w.MatchPolicy, admissionregistrationv1.Equivalent, admissionregistrationv1.Exact),
		validateSideEffects(w.SideEffects, may.sideEffects, at.Child("sideEffects")),
		validateTimeout(w.TimeoutSeconds, at.Child("timeoutSeconds")),
		kind.Selector(at.Child("namespaceSelector"), w.NamespaceSelector),
		kind.Selector(at.Child("objectSelector"), w.ObjectSelector),
		validateClient(&w.ClientConfig, at.Child("clientConfig")),
		validateMatchConditions(w.MatchConditions, at.Child("matchConditions")),
	)
}

func validateSideEffects(class *admissionregistrationv1.SideEffectClass, lenient bool, at *field.Path) field.ErrorList {
	classes := noSideEffects
	if lenient {
		classes = allSideEffects
	}
	if class != nil {
		return kind.Supported(at, *class, classes...)
	}
	names := make([]string, len(classes))
	for i, c := range classes {
		names[i] = string(c)
	}
	return field.ErrorList{field.Required(at, "must specify one of "+strings.Join(names, ", "))}
}

func validateTimeout(seconds *int32, at *field.Path) field.ErrorList {
	if seconds == nil || *seconds >= 1 && *seconds <= 30 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, *seconds, "the timeout value must be between 1 and 30 seconds")}
}

func validateReviewVersions(versions []string, lenient bool, at *field.Path) field.ErrorList {
	known := strings.Join(reviewVersions, ", ")
	if len(versions) == 0 {
		return field.ErrorList{field.Required(at, "must specify one of "+known)}
	}
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, v := range versions {
		if seen.Has(v) {
			errs = append(errs, field.Invalid(at.Index(i), v, "duplicate version"))
			continue
		}
		seen.Insert(v)
		errs = append(errs, kind.Invalid(at.Index(i), v, utilvalidation.IsDNS1035Label(v))...)
	}
	if !lenient && !supportsReview(versions) {
		errs = append(errs, field.Invalid(at, versions, "must include at least one of "+known))
	}
	return errs
}

func validateClient(c *admissionregistrationv1.WebhookClientConfig, at *field.Path) field.ErrorList {
	switch {
	case (c.URL == nil) == (c.Service == nil):
		return field.ErrorList{field.Required(at, "exactly one of url or service is required")}
	case c.URL != nil:
		return validateURL(*c.URL, at.Child("url"))
	}
	return validateService(c.Service, at.Child("service"))
}

func validateURL(text string, at *field.Path) field.ErrorList {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		return field.ErrorList{field.Required(at, "url must be a valid URL: "+err.Error()+form)}
	}
	var errs field.ErrorList
	refuse := func(wrong bool, part, message string) {
		if wrong {
			errs = append(errs, field.Invalid(at, part, message))
		}
	}
	refuse(u.Scheme != "https", u.Scheme, "'https' is the only allowed URL scheme"+form)
	refuse(u.Host == "", u.Host, "host must be specified"+form)
	refuse(u.User != nil, u.User.String(), "user information is not permitted in the URL")
	refuse(u.Fragment != "", u.Fragment, "fragments are not permitted in the URL")
	refuse(u.RawQuery != "", u.RawQuery, "query parameters are not permitted in the URL")
	return errs
}

// validateService reports a missing name as a missing namespace and the reverse, as kube-apiserver
// does.
func validateService(s *admissionregistrationv1.ServiceReference, at *field.Path) field.ErrorList {
	errs := slices.Concat(kind.Required(at.Child("name"), s.Namespace), kind.Required(at.Child("namespace"), s.Name))
	port := ptr.Deref(s.Port, 0)
	if messages := utilvalidation.IsValidPortNum(int(port)); len(messages) > 0 {
		errs = append(errs, field.Invalid(at.Child("port"), port, "port is not valid: "+strings.Join(messages, ", ")))
	}
	if s.Path != nil {
		errs = append(errs, validateServicePath(*s.Path, at.Child("path"))...)
	}
	return errs
}

// validateServicePath requires each segment of a path to be a DNS subdomain.
func validateServicePath(path string, at *field.Path) field.ErrorList {
	switch path {
	case "", "/":
		return nil
	case "//":
		return field.ErrorList{field.Invalid(at, path, "segment[0] may not be empty")}
	}
	var errs field.ErrorList
	if path[0] != '/' {
		errs = append(errs, field.Invalid(at, path, "must start with a '/'"))
	}
	for i, part := range strings.Split(strings.TrimSuffix(path[1:], "/"), "/") {
		if part == "" {
			errs = append(errs, field.Invalid(at, path, fmt.Sprintf("segment[%d] may not be empty", i)))
			continue
		}
		for _, message := range utilvalidation.IsDNS1123Subdomain(part) {
			errs = append(errs, field.Invalid(at, path, fmt.Sprintf("segment[%d]: %s", i, message)))
		}
	}
	return errs
}

const maxConditions = 64

// validateMatchConditions validates the conditions without compiling their expressions.
func validateMatchConditions(conditions []admissionregistrationv1.MatchCondition, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if n := len(conditions); n > maxConditions {
		errs = append(errs, field.TooMany(at, n, maxConditions))
	}
	names := sets.New[string]()
	for i, c := range conditions {
		at := at.Index(i)
		errs = append(errs, validateExpression(c.Expression, at.Child("expression"), "")...)
		errs = append(errs, kind.Formatted(at.Child("name"), c.Name, utilvalidation.IsQualifiedName)...)
		if c.Name != "" && names.Has(c.Name) {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
		names.Insert(c.Name)
	}
	return errs
}

// validateExpression requires an expression that is not blank.
func validateExpression(expression string, at *field.Path, missing string) field.ErrorList {
	if strings.TrimSpace(expression) == "" {
		return field.ErrorList{field.Required(at, missing)}
	}
	return nil
}
