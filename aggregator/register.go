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
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// managedLabel marks the APIServices that come and go with what is served.
const managedLabel = "kube-aggregator.kubernetes.io/automanaged"

var managed = labels.Set{managedLabel: "true"}

// Register keeps an APIService for each group version of custom resources, until
// ctx ends, which is no error. Nothing depends on them but what clients see.
func (a *Aggregator) Register(ctx context.Context) error {
	ctx = asServer(ctx)
	changed := make(chan struct{}, 1)
	var watches sync.WaitGroup
	defer watches.Wait()
	watches.Go(func() {
		a.notify(ctx, apiextensionsv1.Resource("customresourcedefinitions"), registry.ListRequest{}, changed)
	})
	watches.Go(func() {
		a.notify(ctx, apiregistrationv1.Resource("apiservices"), registry.ListRequest{Label: labels.SelectorFromSet(managed)}, changed)
	})
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			if err := a.registerAll(ctx); err != nil && ctx.Err() == nil {
				a.config.Logger.WarnContext(ctx, "aggregator: APIServices of custom resources are not complete", "error", err)
			}
		}
	}
}

// registerAll creates the APIServices that are missing and deletes those that are
// of nothing any more.
func (a *Aggregator) registerAll(ctx context.Context) error {
	served, err := a.customVersions(ctx)
	if err != nil {
		return err
	}
	store, err := a.store(apiregistrationv1.Resource("apiservices"))
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
		if _, wanted := served[name]; !wanted && isManaged(entry) {
			_, err := store.Delete(ctx, registry.DeleteRequest{Name: name, Options: &metav1.DeleteOptions{}})
			errs = append(errs, ignore(err, apierrors.IsNotFound))
		}
		delete(served, name)
	}
	for name, gv := range served {
		_, err := store.Create(ctx, registry.CreateRequest{Object: localService(name, gv), Options: registry.WriteOptions{FieldManager: manager}})
		errs = append(errs, ignore(err, apierrors.IsAlreadyExists))
	}
	return errors.Join(errs...)
}

func isManaged(entry *storage.Entry) bool {
	obj, err := entry.Object()
	return err == nil && obj.(*apiregistrationv1.APIService).Labels[managedLabel] == managed[managedLabel]
}

func ignore(err error, harmless func(error) bool) error {
	if harmless(err) {
		return nil
	}
	return err
}

// customVersions are the group versions of the definitions that are served, by the
// names of their APIServices.
func (a *Aggregator) customVersions(ctx context.Context) (map[string]schema.GroupVersion, error) {
	store, err := a.store(apiextensionsv1.Resource("customresourcedefinitions"))
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
			continue // which is not served either
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
