package batch

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func newJob() *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", UID: "u"}, Spec: batchv1.JobSpec{Template: podsOnce()}}
	defaultJob(j)
	selectOwnPods(context.Background(), j)
	return j
}

func newIndexedJob() *batchv1.Job {
	j := newJob()
	j.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	j.Spec.Completions, j.Spec.Parallelism = new(int32(4)), new(int32(2))
	return j
}

func TestJobs(t *testing.T) {
	check := registrytest.Rules(t, newJob, validateDefaultJob)
	check("labels of the template match the selector", func(j *batchv1.Job) { j.Spec.Template.Labels["job-name"] = "other" },
		`spec.template.metadata.labels[job-name]: Invalid value: {"batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"j",`+
			`"controller-uid":"u","job-name":"other"}: must be 'j'`)
	check("numbers are not negative", func(j *batchv1.Job) { j.Spec.BackoffLimit = new(int32(-1)) },
		"spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0")
	check("fields of indexes need completion mode Indexed", func(j *batchv1.Job) {
		j.Spec.BackoffLimitPerIndex, j.Spec.MaxFailedIndexes = new(int32(1)), new(int32(1))
	},
		"spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
		"spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode")
	check("success policies need completion mode Indexed", func(j *batchv1.Job) { j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{} },
		`spec.successPolicy: Invalid value: {"Rules":null}: requires indexed completion mode`)
	check("completion modes are known", func(j *batchv1.Job) { j.Spec.CompletionMode = new(batchv1.CompletionMode("Odd")) },
		`spec.completionMode: Unsupported value: "Odd": supported values: "NonIndexed", "Indexed"`)
	check("managedBy has a domain", func(j *batchv1.Job) { j.Spec.ManagedBy = new("me") },
		"spec.managedBy: Invalid value: \"me\": must be a domain-prefixed path (such as \"acme.io/foo\")")
	check("a failure policy needs restart policy Never", func(j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		j.Spec.PodFailurePolicy, j.Spec.PodReplacementPolicy = &batchv1.PodFailurePolicy{}, new(batchv1.Failed)
	}, `spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified`)
	check("a failure policy needs replacement of failed pods", func(j *batchv1.Job) { j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{} },
		`spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"`)
}

func TestIndexedJobs(t *testing.T) {
	const at = "spec.successPolicy.rules[0]"
	succeeds := func(count *int32, indexes *string) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: count, SucceededIndexes: indexes}}}
		}
	}
	check := registrytest.Rules(t, newIndexedJob, validateDefaultJob)
	check("completions are required", func(j *batchv1.Job) { j.Spec.Completions = nil },
		"spec.completions: Required value: when completion mode is Indexed")
	check("parallelism has a maximum", func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(100_001)) },
		"spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed")
	check("the name of a job leaves space for indexes", func(j *batchv1.Job) { j.Name, j.Spec.ManualSelector = "a.b", new(true) },
		`metadata.name: Invalid value: "a.b": will not able to create pod with invalid DNS label: a.b-3`)
	check("maxFailedIndexes is at most completions", func(j *batchv1.Job) {
		j.Spec.BackoffLimitPerIndex, j.Spec.MaxFailedIndexes = new(int32(1)), new(int32(5))
	}, "spec.maxFailedIndexes: Invalid value: 5: must be less than or equal to completions")
	check("maxFailedIndexes is required for many completions", func(j *batchv1.Job) {
		j.Spec.BackoffLimitPerIndex, j.Spec.Completions = new(int32(1)), new(int32(100_001))
	}, "spec.maxFailedIndexes: Required value: must be specified when completions is above 100000")
	check("a number of succeeded indexes", succeeds(new(int32(2)), nil))
	check("a list of succeeded indexes", succeeds(nil, new("0,2-3")))
	check("succeededCount is at most the listed indexes", succeeds(new(int32(4)), new("0,2-3")),
		at+".succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of indexes in the specified succeededIndexes field)")
	check("a success rule has a criterion", succeeds(nil, nil),
		at+": Required value: at least one of succeededCount or succeededIndexes must be specified")
	check("indexes are less than completions", succeeds(nil, new("4")),
		at+`.succeededIndexes: Invalid value: "4": error parsing succeededIndexes: too large index: "4"`)
	check("indexes are increasing", succeeds(nil, new("2,1")),
		at+`.succeededIndexes: Invalid value: "2,1": error parsing succeededIndexes: non-increasing order, previous: 2, current: 1`)
}

func TestFailurePolicies(t *testing.T) {
	const at = "spec.podFailurePolicy.rules[0]"
	valid := func() *batchv1.PodFailurePolicyRule {
		return &batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{1, 3},
		}}
	}
	validate := func(r *batchv1.PodFailurePolicyRule) field.ErrorList {
		j := newJob()
		j.Spec.PodFailurePolicy, j.Spec.PodReplacementPolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{*r}}, new(batchv1.Failed)
		return validateDefaultJob(j)
	}
	check := registrytest.Rules(t, valid, validate)
	check("FailIndex needs backoffLimitPerIndex", func(r *batchv1.PodFailurePolicyRule) { r.Action = batchv1.PodFailurePolicyActionFailIndex },
		at+`.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`)
	check("action is required", func(r *batchv1.PodFailurePolicyRule) { r.Action = "" },
		at+`.action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]`)
	check("a rule has exit codes or conditions", func(r *batchv1.PodFailurePolicyRule) { r.OnExitCodes = nil },
		at+": Invalid value: specifying one of OnExitCodes and OnPodConditions is required")
	check("exit code 0 is rejected", func(r *batchv1.PodFailurePolicyRule) { r.OnExitCodes.Values = []int32{0} },
		at+".onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator")
	check("exit codes are sorted and unique", func(r *batchv1.PodFailurePolicyRule) { r.OnExitCodes.Values = []int32{3, 1, 1} },
		at+".onExitCodes.values[2]: Duplicate value: 1",
		at+".onExitCodes.values: Invalid value: [3,1,1]: must be ordered")
	check("the container exists", func(r *batchv1.PodFailurePolicyRule) { r.OnExitCodes.ContainerName = new("other") },
		at+`.onExitCodes.containerName: Invalid value: "other": must be one of the container or initContainer names in the pod template`)
	check("condition statuses are known", func(r *batchv1.PodFailurePolicyRule) {
		r.OnExitCodes = nil
		r.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "DisruptionTarget", Status: "Maybe"}}
	}, at+`.onPodConditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`)
}

func TestJobUpdates(t *testing.T) {
	waiting := func(j *batchv1.Job) { j.Spec.Suspend = new(true) }
	for _, tc := range []struct {
		rule           string
		before, change func(*batchv1.Job)
		want           []string
	}{
		{"parallelism is mutable", nil, func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(3)) }, nil},
		{"completions are immutable", nil, func(j *batchv1.Job) { j.Spec.Completions = new(int32(3)) },
			[]string{"spec.completions: Invalid value: 3: field is immutable"}},
		{"managedBy is immutable", nil, func(j *batchv1.Job) { j.Spec.ManagedBy = new("exam.org/me") },
			[]string{`spec.managedBy: Invalid value: "exam.org/me": field is immutable`}},
		{"scheduling fields are mutable while a job is suspended", waiting, func(j *batchv1.Job) {
			j.Spec.Template.Spec.NodeSelector = map[string]string{"a": "b"}
			j.Spec.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
		}, nil},
		{"labels of the template are mutable while a job is suspended", waiting,
			func(j *batchv1.Job) { j.Spec.Template.Labels["job-name"] = "other" }, nil},
		{"other fields of the template are immutable while suspended", waiting, func(j *batchv1.Job) {
			j.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}}
		}, []string{"spec.template.spec: Invalid value"}},
		{"scheduling fields are immutable after the start", func(j *batchv1.Job) {
			waiting(j)
			j.Status.Active = 1
		}, func(j *batchv1.Job) { j.Spec.Template.Spec.NodeSelector = map[string]string{"a": "b"} }, []string{"spec.template: Invalid value"}},
		{"containers are immutable", waiting, func(j *batchv1.Job) { j.Spec.Template.Spec.Containers = nil },
			[]string{"spec.template.spec.containers: Required value", "spec.template.spec: Invalid value"}},
		{"the selector is immutable", nil, func(j *batchv1.Job) { j.Spec.Selector = nil }, []string{
			"spec.selector: Invalid value: null: field is immutable",
			"spec.selector: Required value",
			"spec.template.metadata.labels: Invalid value: {\"batch.kubernetes.io/controller-uid\":\"u\",\"batch.kubernetes.io/job-name\":\"j\"," +
				"\"controller-uid\":\"u\",\"job-name\":\"j\"}: `selector` does not match template `labels`",
		}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			old := newJob()
			if tc.before != nil {
				tc.before(old)
			}
			j := old.DeepCopy()
			tc.change(j)
			got := registrytest.Texts(validateJobUpdate(j, old, feature.Default()))
			got = slices.Compact(slices.Sorted(slices.Values(got)))
			for i := range got {
				if len(got[i]) > 500 { // a complete template
					got[i] = got[i][:strings.Index(got[i], " value:")+len(" value")]
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func validateDefaultJob(j *batchv1.Job) field.ErrorList { return validateJob(j, feature.Default()) }
