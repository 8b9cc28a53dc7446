package e2e_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/testapi/conflicts"
	"github.com/miniapi/miniapi/testapi/faults"
)

const versionLabel = "biz-version"

// counter adds 1 to a label of the Deployment web for each ConfigMap. It reads the Deployment from
// the cache of its manager, and tries again after an error.
type counter struct {
	client.Client
	results chan error // of the updates
}

func (c counter) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	web := &appsv1.Deployment{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "web"}, web); err != nil {
		return ctrl.Result{}, err
	}
	n, err := strconv.Atoi(web.Labels[versionLabel])
	if err != nil {
		return ctrl.Result{}, err
	}
	web.Labels[versionLabel] = strconv.Itoa(n + 1)
	err = c.Update(ctx, web)
	c.results <- err
	return ctrl.Result{}, err
}

// named returns a configuration for a client with a user agent.
func named(server *miniapi.Server, agent string) *rest.Config {
	config := rest.CopyConfig(server.RESTConfig())
	config.UserAgent = agent + "/v1"
	return config
}

// The cache of a manager is stale, because the events of its watch are held. The conflict of its
// controller names the writer that the cache has not seen, and the label that both have changed.
func TestUpdateOfStaleCacheIsExplained(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{TestAPIs: true, Controllers: []string{"-*"}})
	releases, err := client.New(named(server, "release-tool"), client.Options{})
	check(t, err)
	web := newDeployment("web")
	web.Labels = map[string]string{versionLabel: "1"}
	check(t, releases.Create(t.Context(), web))

	held := server.Faults().Watch(faults.On("watch", "deployments"), faults.Watch{Hold: true})
	mgr := newManager(t, named(server, "counter"), ctrl.Options{})
	results := make(chan error, 100)
	check(t, ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(counter{mgr.GetClient(), results}))
	background(t, mgr.Start)
	_, err = mgr.GetCache().GetInformer(t.Context(), &appsv1.Deployment{})
	check(t, err)
	if !mgr.GetCache().WaitForCacheSync(t.Context()) { // true once the cache is started
		t.Fatal("the cache did not sync")
	}

	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+versionLabel+`":"2"}}}`))
	check(t, releases.Patch(t.Context(), web, patch))
	check(t, releases.Create(t.Context(), newConfigMap("go")))
	if err := receive(t, results); !apierrors.IsConflict(err) {
		t.Fatalf("update from a stale cache: %v, want a conflict", err)
	}
	recorded := server.Conflicts()[0]
	got := []string{recorded.Object.String(), recorded.Loser.Who(), recorded.Winner.Who(), recorded.Winner.Verb}
	if diff := cmp.Diff([]string{"deployments.apps " + namespace + "/web", "counter", "release-tool", "patch"}, got); diff != "" {
		t.Errorf("object, loser, winner (-want +got):\n%s", diff)
	}
	want := []conflicts.Field{{
		Path: ".metadata.labels." + versionLabel, Clash: true, ChangedBy: conflicts.ChangedByBoth,
		Base: `"1"`, Theirs: `"2"`, Ours: `"2"`,
	}}
	if diff := cmp.Diff(want, recorded.Fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}

	held.Remove() // the cache catches up, and a later try succeeds
	for err := receive(t, results); err != nil; err = receive(t, results) {
		if !apierrors.IsConflict(err) {
			t.Fatal(err)
		}
	}
	check(t, releases.Get(t.Context(), client.ObjectKeyFromObject(web), web))
	if web.Labels[versionLabel] != "3" {
		t.Errorf("the label is %s, so a write was lost", web.Labels[versionLabel])
	}
	if lost := server.Conflicts(); lost[len(lost)-1].SucceededAfter < 2 {
		t.Errorf("the last conflict does not name the try that succeeded: %+v", lost[len(lost)-1])
	}
}
