package testapis_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/testapi/conflicts"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// client returns a client with a user agent, which also names its field manager. It collects the
// warnings of its responses.
func client(t *testing.T, server *miniapi.Server, agent string) (*kubernetes.Clientset, *servertest.Warnings) {
	t.Helper()
	config := rest.CopyConfig(server.RESTConfig())
	collected := &servertest.Warnings{}
	config.UserAgent, config.WarningHandler = agent+"/v1", collected
	return servertest.Client(t, config), collected
}

// causesOf returns the causes of a conflict of a type, "FIELD" or the words of the message.
func causesOf(t *testing.T, err error, cause metav1.CauseType) []metav1.StatusCause {
	t.Helper()
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) {
		t.Fatalf("got %v, want a conflict", err)
	}
	return slices.DeleteFunc(slices.Clone(status.Status().Details.Causes), func(c metav1.StatusCause) bool { return c.Type != cause })
}

func fieldsOf(causes []metav1.StatusCause) []string {
	var fields []string
	for _, c := range causes {
		fields = append(fields, c.Field)
	}
	return fields
}

func deployment() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"biz-version": "1"}},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a:1"}, {Name: "b", Image: "b:1"}}},
			},
		},
	}
}

// world has a Deployment that writer "first" has changed after it was read as stale.
type world struct {
	second *kubernetes.Clientset
	warned *servertest.Warnings
	stale  *appsv1.Deployment
}

func newWorld(t *testing.T, config miniapi.Config, change func(*appsv1.Deployment)) world {
	t.Helper()
	server := servertest.Start(t, config)
	first, _ := client(t, server, "first")
	deployments := first.AppsV1().Deployments("default")
	stale, err := deployments.Create(t.Context(), deployment(), metav1.CreateOptions{})
	check(t, err)
	changed := stale.DeepCopy()
	change(changed)
	_, err = deployments.Update(t.Context(), changed, metav1.UpdateOptions{})
	check(t, err)
	w := world{stale: stale}
	w.second, w.warned = client(t, server, "second")
	return w
}

func (w world) update(t *testing.T, change func(*appsv1.Deployment)) error {
	submitted := w.stale.DeepCopy()
	change(submitted)
	_, err := w.second.AppsV1().Deployments("default").Update(t.Context(), submitted, metav1.UpdateOptions{})
	return err
}

func bump(d *appsv1.Deployment)      { d.Labels["biz-version"] = "2" }
func newImage(d *appsv1.Deployment)  { d.Spec.Template.Spec.Containers[1].Image = "b:2" }
func threeMore(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](4) }

var withTestAPIs = miniapi.Config{TestAPIs: true, Controllers: []string{"-*"}}

func TestConflictNamesWriterAndField(t *testing.T) {
	w := newWorld(t, withTestAPIs, func(d *appsv1.Deployment) { bump(d); newImage(d) })
	err := w.update(t, func(d *appsv1.Deployment) { bump(d); newImage(d); threeMore(d) })
	writes := causesOf(t, err, conflicts.CauseInterveningWrite)
	if len(writes) != 1 || !strings.Contains(writes[0].Message, "update by system:admin (user agent first/v1, field manager first)") {
		t.Errorf("writes in between: %v", writes)
	}
	want := []string{".metadata.labels.biz-version", `.spec.template.spec.containers[name="b"].image`}
	if diff := cmp.Diff(want, fieldsOf(causesOf(t, err, conflicts.CauseFieldChangedByBoth))); diff != "" {
		t.Errorf("fields changed by both (-want +got):\n%s", diff)
	}
	warnings := w.warned.Take()
	if len(warnings) != 1 || !strings.Contains(warnings[0], "written in between by first") || !strings.Contains(warnings[0], "both changed "+want[0]) {
		t.Errorf("warnings: %q", warnings)
	}
}

// Clients compare the message and count on the rest of the Status.
func TestExplainedConflictKeepsItsMessage(t *testing.T) {
	var got []metav1.Status
	for _, config := range []miniapi.Config{withTestAPIs, {Controllers: []string{"-*"}}} {
		w := newWorld(t, config, bump)
		err := w.update(t, bump)
		var status apierrors.APIStatus
		if !errors.As(err, &status) {
			t.Fatal(err)
		}
		got = append(got, status.Status())
		if warnings := w.warned.Take(); !config.TestAPIs && len(warnings) > 0 {
			t.Errorf("warnings without the test APIs: %q", warnings)
		}
	}
	got[0].Details.Causes = nil
	if diff := cmp.Diff(got[1], got[0]); diff != "" {
		t.Errorf("without and with the test APIs:\n%s", diff)
	}
}

func TestConflictOfDifferentFieldsRecommendsPatch(t *testing.T) {
	w := newWorld(t, withTestAPIs, bump)
	err := w.update(t, newImage)
	advice := causesOf(t, err, conflicts.CauseDifferentFields)
	if len(advice) != 1 || len(causesOf(t, err, conflicts.CauseFieldChangedByBoth)) != 0 {
		t.Fatalf("advice: %v", advice)
	}
	// The advice is right: the same change as a patch succeeds.
	patch := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"b","image":"b:2"}]}}}}`)
	_, err = w.second.AppsV1().Deployments("default").Patch(t.Context(), "web", types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	check(t, err)
}

// A patch is compared with its base, and not with the state to which it was applied first.
func TestConflictOfPatchWithVersion(t *testing.T) {
	w := newWorld(t, withTestAPIs, bump)
	patch := []byte(`{"metadata":{"resourceVersion":"` + w.stale.ResourceVersion + `","labels":{"biz-version":"2"}}}`)
	_, err := w.second.AppsV1().Deployments("default").Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{})
	if got := fieldsOf(causesOf(t, err, conflicts.CauseFieldChangedByBoth)); !slices.Equal(got, []string{".metadata.labels.biz-version"}) {
		t.Errorf("fields changed by both: %v", got)
	}
}

// A write of status does not change the spec that it contains.
func TestConflictOfStatusIgnoresSpec(t *testing.T) {
	w := newWorld(t, withTestAPIs, threeMore)
	submitted := w.stale.DeepCopy()
	threeMore(submitted)
	submitted.Status.ObservedGeneration = 1
	_, err := w.second.AppsV1().Deployments("default").UpdateStatus(t.Context(), submitted, metav1.UpdateOptions{})
	if both := causesOf(t, err, conflicts.CauseFieldChangedByBoth); len(both) > 0 || len(causesOf(t, err, conflicts.CauseDifferentFields)) == 0 {
		t.Errorf("got %v", err)
	}
}

func TestConflictOfDeletionWithPreconditions(t *testing.T) {
	w := newWorld(t, withTestAPIs, bump)
	deployments := w.second.AppsV1().Deployments("default")
	stale := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &w.stale.ResourceVersion}}
	err := deployments.Delete(t.Context(), "web", stale)
	if writes := causesOf(t, err, conflicts.CauseInterveningWrite); len(writes) != 1 || !strings.Contains(writes[0].Message, "first/v1") {
		t.Errorf("writes in between: %v", writes)
	}
	check(t, deployments.Delete(t.Context(), "web", metav1.DeleteOptions{}))
	_, err = deployments.Create(t.Context(), deployment(), metav1.CreateOptions{})
	check(t, err)
	byUID := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(w.stale.UID))}
	for name, err := range map[string]error{
		"delete by UID":                    deployments.Delete(t.Context(), "web", byUID),
		"update of the deleted object":     w.update(t, bump),
		"delete by an old resourceVersion": deployments.Delete(t.Context(), "web", stale),
	} {
		writes := causesOf(t, err, conflicts.CauseInterveningWrite)
		if len(causesOf(t, err, conflicts.CauseUnknownBase)) != 1 || len(writes) != 2 || !strings.Contains(writes[0].Message, "delete by") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A resourceVersion that no state of the object had is named as the cause.
func TestConflictWithForeignVersion(t *testing.T) {
	w := newWorld(t, withTestAPIs, bump)
	for version, want := range map[string]string{
		"1":       "the object did not exist at revision 1",
		"1000000": "revision 1000000 is newer than the stored object",
	} {
		err := w.update(t, func(d *appsv1.Deployment) { bump(d); d.ResourceVersion = version })
		if problem := causesOf(t, err, conflicts.CauseUnknownBase); len(problem) != 1 || !strings.HasPrefix(problem[0].Message, want) {
			t.Errorf("resourceVersion %s: %v", version, problem)
		}
	}
}

// The base is read from etcd, so it is not known after a compaction; the writers still are.
func TestConflictAfterCompaction(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	first, _ := client(t, server, "first")
	maps := first.CoreV1().ConfigMaps("default")
	stale, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
	check(t, err)
	current := stale
	for _, value := range []string{"1", "2"} {
		current = current.DeepCopy()
		current.Data = map[string]string{"k": value}
		current, err = maps.Update(t.Context(), current, metav1.UpdateOptions{})
		check(t, err)
	}
	response, err := server.EtcdClient().Get(t.Context(), "/")
	check(t, err)
	_, err = server.EtcdClient().Compact(t.Context(), response.Header.Revision)
	check(t, err)
	_, err = maps.Update(t.Context(), stale, metav1.UpdateOptions{})
	if problem := causesOf(t, err, conflicts.CauseUnknownBase); len(problem) != 1 || !strings.Contains(problem[0].Message, "is compacted") {
		t.Errorf("causes: %v", problem)
	}
	if writes := causesOf(t, err, conflicts.CauseInterveningWrite); len(writes) == 0 || !strings.Contains(writes[len(writes)-1].Message, "first/v1") {
		t.Errorf("writes in between: %v", writes)
	}
}

// Five clients add 1 to the same label. Each of the four losers learns who won, also while the
// winner's request is still in progress.
func TestConcurrentConflictsNameTheWinner(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	owner, _ := client(t, server, "owner")
	read, err := owner.AppsV1().Deployments("default").Create(t.Context(), deployment(), metav1.CreateOptions{})
	check(t, err)
	errs := make([]error, 5)
	var group sync.WaitGroup
	for i := range errs {
		c, _ := client(t, server, "worker-"+string(rune('1'+i)))
		group.Go(func() {
			mine := read.DeepCopy()
			bump(mine)
			_, errs[i] = c.AppsV1().Deployments("default").Update(t.Context(), mine, metav1.UpdateOptions{})
		})
	}
	group.Wait()
	checkConflicts(t, server, errs)
	winner := slices.Index(errs, nil)
	for i, err := range errs {
		if i == winner {
			continue
		}
		writes := causesOf(t, err, conflicts.CauseInterveningWrite)
		if len(writes) != 1 || !strings.Contains(writes[0].Message, "worker-"+string(rune('1'+winner))+"/v1") {
			t.Errorf("writes in between: %v, want worker %d", writes, winner+1)
		}
		if got := fieldsOf(causesOf(t, err, conflicts.CauseFieldChangedByBoth)); !slices.Equal(got, []string{".metadata.labels.biz-version"}) {
			t.Errorf("fields changed by both: %v", got)
		}
	}
}

// checkConflicts compares the recorded conflicts with the errors that the workers received.
func checkConflicts(t *testing.T, server *miniapi.Server, errs []error) {
	t.Helper()
	var want, got []string
	for i, err := range errs {
		if err != nil {
			want = append(want, fmt.Sprintf("deployments.apps default/web: worker-%d after worker-%d, .metadata.labels.biz-version",
				i+1, slices.Index(errs, nil)+1))
		}
	}
	for _, c := range server.Conflicts() {
		got = append(got, fmt.Sprintf("%s: %s after %s, %s", c.Object, c.Loser.Who(), c.Winner.Who(), strings.Join(c.Clashing, " ")))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 4 {
		t.Errorf("conflicts (-want +got):\n%s", diff)
	}
}

// The three versions stand side by side, with the fields that one side has changed alone. Long
// values are cut.
func TestRecordedConflictComparesThreeVersions(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	first, _ := client(t, server, "first")
	maps := first.CoreV1().ConfigMaps("default")
	stale, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"both": "base"}}, metav1.CreateOptions{})
	check(t, err)
	patch := []byte(`{"data":{"both":"theirs","long":"` + strings.Repeat("x", 100) + `"}}`)
	current, err := maps.Patch(t.Context(), "c", types.MergePatchType, patch, metav1.PatchOptions{})
	check(t, err)
	second, _ := client(t, server, "second")
	stale.Data = map[string]string{"both": "ours", "mine": "new"}
	_, err = second.CoreV1().ConfigMaps("default").Update(t.Context(), stale, metav1.UpdateOptions{})
	causesOf(t, err, conflicts.CauseFieldChangedByBoth)
	var want []string
	for _, row := range [][]any{
		{"FIELD", "BASE (" + stale.ResourceVersion + ")", "THEIRS (" + current.ResourceVersion + ", first)", "OURS (second)", "CHANGED BY"},
		{".data.both", `"base"`, `"theirs"`, `"ours"`, "both"},
		{".data.long", "-", `"` + strings.Repeat("x", 39) + "...", "-", "theirs"},
		{".data.mine", "-", "-", `"new"`, "ours"},
	} {
		want = append(want, fmt.Sprintf("%-10s   %-8s   %-43s   %-13s   %s", row...))
	}
	if diff := cmp.Diff(want, server.Conflicts()[0].SideBySide); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The recorded conflict of a Secret has its fields without their values.
func TestRecordedConflictHidesSecrets(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	c, _ := client(t, server, "first")
	secrets := c.CoreV1().Secrets("default")
	stale, err := secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, metav1.CreateOptions{})
	check(t, err)
	_, err = secrets.Patch(t.Context(), "s", types.MergePatchType, []byte(`{"stringData":{"k":"a"}}`), metav1.PatchOptions{})
	check(t, err)
	stale.StringData = map[string]string{"k": "b"}
	_, err = secrets.Update(t.Context(), stale, metav1.UpdateOptions{})
	causesOf(t, err, conflicts.CauseFieldChangedByBoth)
	recorded := server.Conflicts()
	if len(recorded) != 1 || len(recorded[0].Fields) == 0 {
		t.Fatalf("recorded %+v", recorded)
	}
	if table := strings.Join(recorded[0].SideBySide, "\n"); !strings.Contains(table, ".data.k ") || strings.Contains(table, `"`) {
		t.Errorf("values of a Secret side by side:\n%s", table)
	}
	for _, field := range recorded[0].Fields {
		if field.Theirs != "" && field.Theirs != "(hidden)" || field.Ours != "" && field.Ours != "(hidden)" {
			t.Errorf("field %+v", field)
		}
	}
}

// retry.RetryOnConflict succeeds, and the conflict says so. The resource is watched by a dynamic
// informer, as any other one.
func TestConflictsResource(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	c, _ := client(t, server, "retrier")
	other, _ := client(t, server, "other")
	dynamicClient, err := dynamic.NewForConfig(server.RESTConfig())
	check(t, err)
	resource := schema.GroupVersionResource{Group: "miniapi.dev", Version: "v1alpha1", Resource: "conflicts"}
	list, err := dynamicClient.Resource(resource).List(t.Context(), metav1.ListOptions{})
	check(t, err)
	watcher, err := dynamicClient.Resource(resource).Watch(t.Context(), metav1.ListOptions{
		ResourceVersion: list.GetResourceVersion(), FieldSelector: "loser.fieldManager=retrier"})
	check(t, err)
	defer watcher.Stop()
	_, err = c.AppsV1().Deployments("default").Create(t.Context(), deployment(), metav1.CreateOptions{})
	check(t, err)
	tries := 0
	check(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		read, err := c.AppsV1().Deployments("default").Get(t.Context(), "web", metav1.GetOptions{})
		check(t, err)
		if tries++; tries == 1 {
			_, err = other.AppsV1().Deployments("default").Patch(t.Context(), "web", types.MergePatchType,
				[]byte(`{"metadata":{"labels":{"biz-version":"2"}}}`), metav1.PatchOptions{})
			check(t, err)
		}
		bump(read)
		read.Labels["retried"] = "yes"
		_, err = c.AppsV1().Deployments("default").Update(t.Context(), read, metav1.UpdateOptions{})
		return err
	}))
	var got []string
	for range 2 {
		event := <-watcher.ResultChan()
		object := event.Object.(*unstructured.Unstructured)
		after, _, _ := unstructured.NestedInt64(object.Object, "succeededAfter")
		got = append(got, fmt.Sprintf("%s %s %d", event.Type, object.GetName(), after))
	}
	if diff := cmp.Diff([]string{"ADDED web-1 0", "MODIFIED web-1 2"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	_, err = dynamicClient.Resource(resource).List(t.Context(), metav1.ListOptions{FieldSelector: "loser.nobody=x"})
	if !apierrors.IsBadRequest(err) {
		t.Errorf("unknown field selector: %v", err)
	}
}

// The values of a Secret are not in the answer, because a user may update what it cannot read.
func TestConflictHasNoValues(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	c, warned := client(t, server, "first")
	secrets := c.CoreV1().Secrets("default")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"k": "first"}}
	stale, err := secrets.Create(t.Context(), secret, metav1.CreateOptions{})
	check(t, err)
	_, err = secrets.Patch(t.Context(), "s", types.MergePatchType, []byte(`{"data":{"k":"c2VjcmV0"}}`), metav1.PatchOptions{})
	check(t, err)
	stale.Data["k"] = []byte("other")
	_, err = secrets.Update(t.Context(), stale, metav1.UpdateOptions{})
	if got := fieldsOf(causesOf(t, err, conflicts.CauseFieldChangedByBoth)); !slices.Equal(got, []string{".data.k"}) {
		t.Errorf("fields changed by both: %v", got)
	}
	var status apierrors.APIStatus
	errors.As(err, &status)
	answer := status.Status()
	text := answer.String() + strings.Join(warned.Take(), "")
	for _, value := range []string{"c2VjcmV0", "secret\"", "b3RoZXI"} {
		if strings.Contains(text, value) {
			t.Errorf("the answer has the value %s: %s", value, text)
		}
	}
}
