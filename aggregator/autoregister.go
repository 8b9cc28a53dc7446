package aggregator

import (
	"context"
	"errors"
	"maps"
	"path"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// managedLabel is the label of APIServices that the server creates and deletes itself.
const managedLabel = "kube-aggregator.kubernetes.io/automanaged"

var (
	managed     = labels.Set{managedLabel: "true"}
	definitions = apiextensionsv1.Resource("customresourcedefinitions")
)

// Register keeps an APIService for each group version of custom resources, until ctx ends, and
// returns nil then. They are for clients only: the server does not need them.
func (a *Aggregator) Register(ctx context.Context) error {
	ctx = registry.WithServerUser(ctx)
	changed := make(chan struct{}, 1)
	var watches sync.WaitGroup
	defer watches.Wait()
	watches.Go(func() {
		a.notify(ctx, definitions, registry.ListRequest{}, changed)
	})
	watches.Go(func() {
		a.notify(ctx, apiServices, registry.ListRequest{Label: labels.SelectorFromSet(managed)}, changed)
	})
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			if err := a.registerAll(ctx); err != nil && ctx.Err() == nil {
				a.config.Logger.WarnContext(ctx, "aggregator: the APIServices of custom resources cannot be updated", "error", err)
			}
		}
	}
}

// registerAll creates the APIServices that are missing and deletes the managed ones whose group
// version is not served.
func (a *Aggregator) registerAll(ctx context.Context) error {
	served, err := a.customVersions(ctx)
	if err != nil {
		return err
	}
	store, err := a.store(apiServices)
	if err != nil {
		return err
	}
	page, err := store.List(ctx, registry.ListRequest{})
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range page.Entries {
		name := path.Base(entry.Key)
		if _, ok := served[name]; !ok && isManaged(entry) {
			_, err := store.Delete(ctx, registry.DeleteRequest{Name: name, Options: &metav1.DeleteOptions{}})
			errs = append(errs, utilerrors.FilterOut(err, apierrors.IsNotFound))
		}
		delete(served, name)
	}
	for name, gv := range served {
		_, err := store.Create(ctx, registry.CreateRequest{Object: localService(name, gv), Options: registry.WriteOptions{FieldManager: fieldManager}})
		errs = append(errs, utilerrors.FilterOut(err, apierrors.IsAlreadyExists))
	}
	return errors.Join(errs...)
}

func isManaged(entry *storage.Entry) bool {
	obj, err := entry.Object()
	return err == nil && obj.(*apiregistrationv1.APIService).Labels[managedLabel] == managed[managedLabel]
}

// customVersions returns the served group versions of custom resources by the names of their
// APIServices.
func (a *Aggregator) customVersions(ctx context.Context) (map[string]schema.GroupVersion, error) {
	store, err := a.store(definitions)
	if err != nil {
		return nil, err
	}
	page, err := store.List(ctx, registry.ListRequest{})
	if err != nil {
		return nil, err
	}
	versions := map[string]schema.GroupVersion{}
	for _, entry := range page.Entries {
		obj, err := entry.Object()
		if err != nil {
			continue // it is not served
		}
		crd := obj.(*apiextensionsv1.CustomResourceDefinition)
		for _, v := range crd.Spec.Versions {
			if v.Served && apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
				versions[v.Name+"."+crd.Spec.Group] = schema.GroupVersion{Group: crd.Spec.Group, Version: v.Name}
			}
		}
	}
	return versions, nil
}

func localService(name string, gv schema.GroupVersion) *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: maps.Clone(managed)},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: gv.Group, Version: gv.Version,
			GroupPriorityMinimum: registry.CustomGroupPriority, VersionPriority: registry.CustomVersionPriority,
		},
	}
}
