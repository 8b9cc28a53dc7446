package registry_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// post returns the request of a POST of obj to its namespace.
func post(obj runtime.Object) registry.CreateRequest {
	return registry.CreateRequest{Namespace: registrytest.Meta(obj).GetNamespace(), Object: obj}
}

func postDryRun(obj runtime.Object) registry.CreateRequest {
	req := post(obj)
	req.Options.DryRun = true
	return req
}

func TestCreateFillsMetadata(t *testing.T) {
	e := registrytest.New(t, nil)
	forged := registrytest.NewDeployment("d")
	forged.Namespace = ""
	forged.UID = "mine"
	forged.SelfLink = "/somewhere"
	forged.Generation = 12
	forged.CreationTimestamp = metav1.Unix(1, 0)
	forged.DeletionTimestamp = &forged.CreationTimestamp
	forged.Status.Replicas = 3
	result, err := e.Store("deployments.apps").Create(t.Context(), registry.CreateRequest{Namespace: "x", Object: forged})
	if err != nil {
		t.Fatal(err)
	}
	got := registrytest.Object(result.Entry).(*appsv1.Deployment)
	if got.Namespace != "x" || got.UID == "mine" || len(got.UID) != 36 || got.SelfLink != "" || got.Generation != 1 ||
		got.CreationTimestamp.Unix() == 1 || got.DeletionTimestamp != nil || got.Status.Replicas != 0 {
		t.Errorf("created %v", got)
	}
	if !result.Created || got.ResourceVersion == "" {
		t.Errorf("created %v, version %q", result.Created, got.ResourceVersion)
	}
}

func TestCreateRejects(t *testing.T) {
	env := registrytest.New(t, nil)
	env.Create("configmaps", registrytest.NewConfigMap("n1"))
	env.Create("configmaps", registrytest.Change(registrytest.NewConfigMap("f1"), func(c *corev1.ConfigMap) { c.Finalizers = []string{"exam.io/one"} }))
	if _, err := env.Store("configmaps").Delete(t.Context(), registry.DeleteRequest{Namespace: "x", Name: "f1"}); err != nil {
		t.Fatal(err)
	}
	required := detailsOf("", "ConfigMap", "")
	required.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeFieldValueRequired, Message: "Required value: name or generateName is required", Field: "metadata.name",
	}}
	for _, c := range []struct {
		rule   string
		change func(*corev1.ConfigMap)
		dryRun bool
		want   metav1.Status
	}{
		{
			rule: "a missing name is invalid", change: func(c *corev1.ConfigMap) { c.Name = "" },
			want: failureStatus(422, metav1.StatusReasonInvalid, `ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required`, required),
		},
		{
			rule: "a name in use is a conflict", change: func(c *corev1.ConfigMap) { c.Name = "n1" },
			want: failureStatus(409, metav1.StatusReasonAlreadyExists, `configmaps "n1" already exists`, detailsOf("", "configmaps", "n1")),
		},
		{
			rule: "a name in use is a conflict in a dry run", change: func(c *corev1.ConfigMap) { c.Name = "n1" }, dryRun: true,
			want: failureStatus(409, metav1.StatusReasonAlreadyExists, `configmaps "n1" already exists`, detailsOf("", "configmaps", "n1")),
		},
		{
			rule: "a dry run checks the name before the resourceVersion", change: func(c *corev1.ConfigMap) { c.Name, c.ResourceVersion = "n1", "1" }, dryRun: true,
			want: failureStatus(409, metav1.StatusReasonAlreadyExists, `configmaps "n1" already exists`, detailsOf("", "configmaps", "n1")),
		},
		{
			rule: "a name of an object that is being deleted is a conflict", change: func(c *corev1.ConfigMap) { c.Name = "f1" },
			want: failureStatus(409, metav1.StatusReasonAlreadyExists, `object is being deleted: configmaps "f1" already exists`, detailsOf("", "configmaps", "f1")),
		},
		{
			rule: "a namespace that differs from the URL is a bad request", change: func(c *corev1.ConfigMap) { c.Namespace = "default" },
			want: failureStatus(400, metav1.StatusReasonBadRequest, "the namespace of the provided object does not match the namespace sent on the request", nil),
		},
		{
			rule: "a resourceVersion is an error", change: func(c *corev1.ConfigMap) { c.ResourceVersion = "1" },
			want: failureStatus(500, "", "resourceVersion should not be set on objects to be created", nil),
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			obj := registrytest.Change(registrytest.NewConfigMap("z"), c.change)
			before := env.With(t).Revision()
			_, err := env.Store("configmaps").Create(t.Context(), registry.CreateRequest{
				Namespace: "x", Object: obj, Options: registry.WriteOptions{DryRun: c.dryRun},
			})
			wantStatus(t, err, c.want)
			if after := env.With(t).Revision(); after != before {
				t.Errorf("the revision of etcd changed from %d to %d", before, after)
			}
		})
	}
}

func TestCreateClearsTheNamespaceOfAClusterScopedObject(t *testing.T) {
	e := registrytest.New(t, nil)
	obj := e.Create("namespaces", registrytest.Change(registrytest.NewNamespace("zz"), func(n *corev1.Namespace) { n.Namespace = "yy" }))
	if got := registrytest.Meta(obj).GetNamespace(); got != "" {
		t.Errorf("namespace %q", got)
	}
}

func TestGenerateName(t *testing.T) {
	env := registrytest.New(t, nil)
	generated := func(base string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "x", GenerateName: base}}
	}
	t.Run("appends five characters", func(t *testing.T) {
		name := registrytest.Meta(env.With(t).Create("configmaps", generated("gen-"))).GetName()
		if !strings.HasPrefix(name, "gen-") || len(name) != len("gen-")+5 {
			t.Errorf("name %q", name)
		}
	})
	t.Run("limits names to 63 characters", func(t *testing.T) {
		name := registrytest.Meta(env.With(t).Create("configmaps", generated(strings.Repeat("g", 80)))).GetName()
		if len(name) != 63 {
			t.Errorf("name %q has %d characters", name, len(name))
		}
	})
	t.Run("is validated as a prefix", func(t *testing.T) {
		_, err := env.Store("configmaps").Create(t.Context(), post(generated("gen.")))
		wantField(t, err, 422, "metadata.generateName")
	})
	t.Run("is ignored if the object has a name", func(t *testing.T) {
		obj := generated("gen-")
		obj.Name = "named"
		if name := registrytest.Meta(env.With(t).Create("configmaps", obj)).GetName(); name != "named" {
			t.Errorf("name %q", name)
		}
	})
}

func TestGenerateNameTriesEightTimes(t *testing.T) {
	e := registrytest.New(t, nil)
	e.Create("configmaps", registrytest.NewConfigMap("gen-taken"))
	for _, c := range []struct {
		rule   string
		taken  int // attempts that generate a name in use
		exists bool
	}{
		{"the eighth attempt may succeed", 7, false},
		{"eight collisions fail", 8, true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			attempts := 0
			e.Store("configmaps").SetNames(func(base string) string {
				attempts++
				if attempts <= c.taken {
					return base + "taken"
				}
				return base + "free"
			})
			_, err := e.Store("configmaps").Create(t.Context(), post(&corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: "x", GenerateName: "gen-"},
			}))
			if attempts != 8 {
				t.Errorf("%d attempts", attempts)
			}
			if !c.exists {
				if err != nil {
					t.Error(err)
				}
				return
			}
			details := detailsOf("", "configmaps", "gen-taken")
			details.RetryAfterSeconds = 1
			wantStatus(t, err, failureStatus(409, metav1.StatusReasonAlreadyExists,
				`configmaps "gen-taken" already exists, the server was not able to generate a unique name for the object`, details))
		})
	}
}

func TestCreateDropsDuplicateOwners(t *testing.T) {
	e := registrytest.New(t, nil)
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "a", UID: "1"}
	ctx, warnings := registry.WithWarnings(t.Context())
	result, err := e.Store("configmaps").Create(ctx, post(registrytest.Change(registrytest.NewConfigMap("c"), func(c *corev1.ConfigMap) {
		c.OwnerReferences = []metav1.OwnerReference{owner, owner}
	})))
	if err != nil {
		t.Fatal(err)
	}
	if refs := registrytest.Meta(registrytest.Object(result.Entry)).GetOwnerReferences(); len(refs) != 1 {
		t.Errorf("owners %v", refs)
	}
	want := ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: 1"
	if got := warnings.List(); len(got) != 1 || got[0] != want {
		t.Errorf("warnings %q", got)
	}
}

func TestEventsExpire(t *testing.T) {
	e := registrytest.New(t, nil)
	hasLease := func(key string) bool {
		resp, err := e.Client.Get(t.Context(), "/registry/"+key)
		if err != nil || len(resp.Kvs) != 1 {
			t.Fatalf("%v, %d keys", err, len(resp.Kvs))
		}
		return resp.Kvs[0].Lease != 0
	}
	event := e.Create("events", registrytest.NewEvent("e")).(*corev1.Event)
	e.Create("configmaps", registrytest.NewConfigMap("c"))
	if !hasLease("events/x/e") || hasLease("configmaps/x/c") {
		t.Error("the event needs a lease and the ConfigMap none")
	}
	update[*corev1.Event](e, "events", patch(event, func(e *corev1.Event) { e.Message = "updated" }))
	if !hasLease("events/x/e") {
		t.Error("the updated event has no lease")
	}
}
