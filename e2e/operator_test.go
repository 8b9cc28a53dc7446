package e2e_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/miniapi/miniapi/e2e/suite/operator"
	"github.com/miniapi/miniapi/miniapitest"
)

// An operator with a kind of its own cannot tell what it runs on.
func TestOperator(t *testing.T) {
	const crds = "suite/operator/config"
	for name, start := range map[string]func(t *testing.T) *rest.Config{
		"with envtest": func(t *testing.T) *rest.Config {
			useAssets(t)
			env := &envtest.Environment{CRDDirectoryPaths: []string{crds}, ErrorIfCRDPathMissing: true}
			config, err := env.Start()
			check(t, err)
			t.Cleanup(func() { check(t, env.Stop()) })
			return config
		},
		"in the process of the test": func(t *testing.T) *rest.Config {
			return miniapitest.Start(t, miniapitest.Options{CRDs: []string{crds}}).RESTConfig()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newOperatorStory(t, start(t))
			s.whatIsInvalidIsRefused()
			s.copiesAreMade()
			s.copiesThatGoComeBack()
			s.copiesThatAreNotWantedGo()
			s.theLastOneOutTakesItsCopiesAlong()
		})
	}
}

type operatorStory struct {
	t      *testing.T
	client client.WithWatch
}

// newOperatorStory runs the operator until the test ends.
func newOperatorStory(t *testing.T, config *rest.Config) *operatorStory {
	t.Helper()
	known := runtime.NewScheme()
	check(t, scheme.AddToScheme(known))
	check(t, operator.AddToScheme(known))
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: known, Metrics: metricsserver.Options{BindAddress: "0"}})
	check(t, err)
	check(t, (&operator.MirrorReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		check(t, <-ended)
	})
	c, err := client.NewWithWatch(config, client.Options{Scheme: known})
	check(t, err)
	return &operatorStory{t, c}
}

func (s *operatorStory) mirror() *operator.Mirror {
	return &operator.Mirror{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "m"},
		Spec:       operator.MirrorSpec{Text: "hi"},
	}
}

// await does something, unless that is nil, and returns when an event fits.
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

// awaitReady returns when the status says that there are so many copies.
func (s *operatorStory) awaitReady(copies int) {
	s.t.Helper()
	s.await(&operator.MirrorList{}, nil, func(_ watch.EventType, object client.Object) bool {
		m := object.(*operator.Mirror)
		return m.Status.Copies == copies && m.Status.ObservedGeneration == m.Generation && meta.IsStatusConditionTrue(m.Status.Conditions, "Ready")
	})
}

func (s *operatorStory) copies() []corev1.ConfigMap {
	s.t.Helper()
	var list corev1.ConfigMapList
	check(s.t, s.client.List(s.t.Context(), &list, client.InNamespace(namespace), client.HasLabels{"optics.example.org/mirror"}))
	return list.Items
}

func (s *operatorStory) whatIsInvalidIsRefused() {
	s.t.Helper()
	invalid := s.mirror()
	invalid.Spec.Copies = new(11)
	if err := s.client.Create(s.t.Context(), invalid); !apierrors.IsInvalid(err) {
		s.t.Errorf("eleven copies: %v", err)
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

func (s *operatorStory) copiesThatGoComeBack() {
	s.t.Helper()
	lost := s.copies()[1]
	check(s.t, s.client.Delete(s.t.Context(), &lost))
	s.await(&corev1.ConfigMapList{}, nil, func(_ watch.EventType, object client.Object) bool {
		return object.GetName() == lost.Name && object.GetUID() != lost.UID
	})
}

func (s *operatorStory) copiesThatAreNotWantedGo() {
	s.t.Helper()
	m := s.mirror()
	check(s.t, s.client.Patch(s.t.Context(), m, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"copies":2}}`))))
	s.awaitReady(2)
	if copies := s.copies(); len(copies) != 2 {
		s.t.Errorf("copies: %v", copies)
	}
}

func (s *operatorStory) theLastOneOutTakesItsCopiesAlong() {
	s.t.Helper()
	remove := func() { check(s.t, s.client.Delete(s.t.Context(), s.mirror())) }
	s.await(&operator.MirrorList{}, remove, func(event watch.EventType, _ client.Object) bool { return event == watch.Deleted })
	if copies := s.copies(); len(copies) > 0 {
		s.t.Errorf("copies of nothing: %v", copies)
	}
}
