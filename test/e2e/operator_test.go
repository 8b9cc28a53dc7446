package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/miniapi/miniapi/miniapitest"
	"github.com/miniapi/miniapi/test/e2e/suite/operator"
	"github.com/miniapi/miniapi/test/e2e/suite/operator/v1beta1"
)

// TestOperator runs an operator with its own kind in several environments.
func TestOperator(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, env *envtest.Environment){
		"with envtest": func(t *testing.T, _ *envtest.Environment) { useAssets(t) },
		"with a server of miniapitest": func(t *testing.T, env *envtest.Environment) {
			programsDir(t)
			env.UseExistingCluster = new(true)
			env.Config = miniapitest.Start(t, miniapitest.Options{}).RESTConfig()
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := operatorEnvironment(t)
			prepare(t, env)
			s := newOperatorStory(t, env)
			s.invalidObjectsAreRejected()
			s.copiesAreMade()
			s.versionsAreConverted()
			s.otherVersionsAreAdmitted()
			s.staleCopiesConflict()
			s.deletedCopiesAreRecreated()
			s.surplusCopiesAreDeleted()
			s.copiesAreDeletedWithTheirOwner()
		})
	}
}

type operatorStory struct {
	t      *testing.T
	client client.WithWatch
}

// operatorEnvironment returns the environment of a typical suite_test.go with webhooks.
func operatorEnvironment(t *testing.T) *envtest.Environment {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, operator.AddToScheme, v1beta1.AddToScheme} {
		check(t, add(known))
	}
	return &envtest.Environment{
		Scheme:                known,
		CRDDirectoryPaths:     []string{"suite/operator/config/crd"},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{Paths: []string{"suite/operator/config/webhook"}},
	}
}

// newOperatorStory runs the operator until the test ends.
func newOperatorStory(t *testing.T, env *envtest.Environment) *operatorStory {
	t.Helper()
	config, err := env.Start()
	check(t, err)
	t.Cleanup(func() { check(t, env.Stop()) })
	local := env.WebhookInstallOptions
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  env.Scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: local.LocalServingHost, Port: local.LocalServingPort, CertDir: local.LocalServingCertDir,
		}),
	})
	check(t, err)
	check(t, (&operator.MirrorReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr))
	check(t, operator.MirrorWebhook{}.SetupWithManager(mgr))
	background(t, mgr.Start)
	awaitWebhooks(t, mgr)
	c, err := client.NewWithWatch(config, client.Options{Scheme: env.Scheme})
	check(t, err)
	return &operatorStory{t, c}
}

func (s *operatorStory) mirror() *operator.Mirror {
	return &operator.Mirror{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "m"},
		Spec:       operator.MirrorSpec{Text: "hi"},
	}
}

// await calls act unless it is nil, and returns when an event fits.
func (s *operatorStory) await(list client.ObjectList, act func(), fits func(watch.EventType, client.Object) bool) {
	s.t.Helper()
	watcher, err := s.client.Watch(s.t.Context(), list, client.InNamespace(namespace))
	check(s.t, err)
	defer watcher.Stop()
	if act != nil {
		act()
	}
	for event := range watcher.ResultChan() {
		if object, ok := event.Object.(client.Object); ok && fits(event.Type, object) {
			return
		}
	}
	s.t.Fatal("the watch has ended")
}

// awaitReady waits until the status has the number of copies.
func (s *operatorStory) awaitReady(copies int) {
	s.t.Helper()
	s.await(&operator.MirrorList{}, nil, func(_ watch.EventType, object client.Object) bool {
		m := object.(*operator.Mirror)
		return m.Status.Copies == copies && m.Status.ObservedGeneration == m.Generation && meta.IsStatusConditionTrue(m.Status.Conditions, "Ready")
	})
}

// remove deletes a Mirror and waits until the operator has removed its finalizer.
func (s *operatorStory) remove(m *operator.Mirror) {
	s.t.Helper()
	act := func() { check(s.t, s.client.Delete(s.t.Context(), m)) }
	s.await(&operator.MirrorList{}, act, func(event watch.EventType, object client.Object) bool {
		return event == watch.Deleted && object.GetName() == m.Name
	})
}

func (s *operatorStory) copies() []corev1.ConfigMap {
	s.t.Helper()
	var list corev1.ConfigMapList
	check(s.t, s.client.List(s.t.Context(), &list, client.InNamespace(namespace), client.HasLabels{"optics.example.org/mirror"}))
	return list.Items
}

func (s *operatorStory) invalidObjectsAreRejected() {
	s.t.Helper()
	invalid := s.mirror()
	invalid.Spec.Copies = new(11)
	if err := s.client.Create(s.t.Context(), invalid); !apierrors.IsInvalid(err) {
		s.t.Errorf("eleven copies: %v", err)
	}
	long := s.mirror()
	long.Spec.Text, long.Spec.Copies = strings.Repeat("a", 60), new(2)
	const want = `admission webhook "vmirror-v1.kb.io" denied the request: the copies have 120 bytes, and may have 100`
	if err := s.client.Create(s.t.Context(), long); !apierrors.IsForbidden(err) || err.Error() != want {
		s.t.Errorf("long copies: %v, want %s", err, want)
	}
}

func (s *operatorStory) copiesAreMade() {
	s.t.Helper()
	m := s.mirror()
	check(s.t, s.client.Create(s.t.Context(), m))
	if m.Spec.Copies == nil || *m.Spec.Copies != 1 {
		s.t.Errorf("by default: %v copies", m.Spec.Copies)
	}
	s.awaitReady(1)
	check(s.t, s.client.Patch(s.t.Context(), m, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"copies":3}}`))))
	s.awaitReady(3)
	copies := s.copies()
	if len(copies) != 3 || copies[2].Data["text"] != "hi" {
		s.t.Errorf("copies: %v", copies)
	}
}

func (s *operatorStory) versionsAreConverted() {
	s.t.Helper()
	check(s.t, s.client.Patch(s.t.Context(), s.mirror(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"text":"hi\nthere"}}`))))
	want := v1beta1.MirrorSpec{Lines: []string{"hi", "there"}, Copies: new(3)}
	var got v1beta1.Mirror
	check(s.t, s.client.Get(s.t.Context(), client.ObjectKeyFromObject(s.mirror()), &got))
	if diff := cmp.Diff(want, got.Spec); diff != "" {
		s.t.Errorf("one (-want +got):\n%s", diff)
	}
	var list v1beta1.MirrorList
	check(s.t, s.client.List(s.t.Context(), &list, client.InNamespace(namespace)))
	if len(list.Items) != 1 || !cmp.Equal(list.Items[0].Spec, want) {
		s.t.Errorf("all: %v", list.Items)
	}
}

// otherVersionsAreAdmitted checks that webhooks receive the version of their rules, whichever
// version the client writes.
func (s *operatorStory) otherVersionsAreAdmitted() {
	s.t.Helper()
	silent := &v1beta1.Mirror{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "silent"}}
	check(s.t, s.client.Create(s.t.Context(), silent))
	if diff := cmp.Diff([]string{"silent"}, silent.Spec.Lines); diff != "" {
		s.t.Errorf("lines by default (-want +got):\n%s", diff)
	}
	stored := &operator.Mirror{}
	check(s.t, s.client.Get(s.t.Context(), client.ObjectKeyFromObject(silent), stored))
	if stored.Spec.Text != "silent" {
		s.t.Errorf("text by default: %q", stored.Spec.Text)
	}
	s.remove(stored)
}

func (s *operatorStory) staleCopiesConflict() {
	s.t.Helper()
	var stale operator.Mirror
	var staleLines v1beta1.Mirror
	key := client.ObjectKeyFromObject(s.mirror())
	check(s.t, s.client.Get(s.t.Context(), key, &stale))
	check(s.t, s.client.Get(s.t.Context(), key, &staleLines))
	check(s.t, s.client.Patch(s.t.Context(), s.mirror(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"text":"hi"}}`))))
	stale.Spec.Text, staleLines.Spec.Lines = "mine", []string{"mine"}
	for _, object := range []client.Object{&stale, &staleLines} {
		if err := s.client.Update(s.t.Context(), object); !apierrors.IsConflict(err) {
			s.t.Errorf("a stale %T: %v, want a conflict", object, err)
		}
	}
}

func (s *operatorStory) deletedCopiesAreRecreated() {
	s.t.Helper()
	lost := s.copies()[1]
	check(s.t, s.client.Delete(s.t.Context(), &lost))
	s.await(&corev1.ConfigMapList{}, nil, func(_ watch.EventType, object client.Object) bool {
		return object.GetName() == lost.Name && object.GetUID() != lost.UID
	})
}

func (s *operatorStory) surplusCopiesAreDeleted() {
	s.t.Helper()
	m := s.mirror()
	check(s.t, s.client.Patch(s.t.Context(), m, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"copies":2}}`))))
	s.awaitReady(2)
	if copies := s.copies(); len(copies) != 2 {
		s.t.Errorf("copies: %v", copies)
	}
}

func (s *operatorStory) copiesAreDeletedWithTheirOwner() {
	s.t.Helper()
	s.remove(s.mirror())
	if copies := s.copies(); len(copies) > 0 {
		s.t.Errorf("copies of nothing: %v", copies)
	}
}
