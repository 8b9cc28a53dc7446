package registry

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// nameAttempts is the maximum number of names that are generated until one is free.
const nameAttempts = 8

// Create stores a new object. The error is a 409 if the name exists, and a 500 with the text of
// kube-apiserver if the object has a resourceVersion.
func (s *Store) Create(ctx context.Context, req CreateRequest) (_ Result, err error) {
	ctx, end := s.span(ctx, "create")
	defer end(&err)
	if err := s.checkWritable(createAttributes(req, "").Name); err != nil {
		return Result{}, err
	}
	ctx = s.catalog.withClock(ctx)
	if err := s.sanitize(ctx, req); err != nil {
		return Result{}, err
	}
	defer s.beginCreation(req.Namespace)()
	if req.Object, err = s.admit(ctx, createAttributes(req, "")); err != nil {
		return Result{}, err
	}
	return s.createWithName(ctx, req)
}

// sanitize checks the metadata and the size of a new object, clears the fields that only the
// server sets, and sets the field managers.
func (b *base) sanitize(ctx context.Context, req CreateRequest) error {
	accessor, err := meta.Accessor(req.Object)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	wipeSystemFields(accessor)
	if err := b.resource.CheckNamespace(accessor, req.Namespace); err != nil {
		return err
	}
	dropDuplicateOwners(ctx, accessor, "")
	if b.resource.Virtual == nil {
		if err := b.checkSize(req.Object); err != nil {
			return err
		}
	}
	b.track(req.Object, nil, req.Options, "")
	return ctx.Err()
}

// createWithName generates the name of an object with a generateName, and another one if the name
// exists. Each attempt starts from a copy of the admitted object.
func (s *Store) createWithName(ctx context.Context, req CreateRequest) (Result, error) {
	accessor, err := meta.Accessor(req.Object)
	if err != nil {
		return Result{}, err
	}
	if accessor.GetName() != "" || accessor.GetGenerateName() == "" {
		return s.create(ctx, req)
	}
	var result Result
	for range nameAttempts {
		attempt := req
		attempt.Object = req.Object.DeepCopyObject()
		if accessor, err = meta.Accessor(attempt.Object); err != nil {
			return Result{}, err
		}
		accessor.SetName(s.names(accessor.GetGenerateName()))
		if result, err = s.create(ctx, attempt); err == nil || !apierrors.IsAlreadyExists(err) {
			break
		}
	}
	return result, err
}

// create stores an object. An object without a name is rejected.
func (s *Store) create(ctx context.Context, req CreateRequest) (Result, error) {
	tx := s.begin()
	defer tx.rollback(ctx)
	creation, err := s.prepareCreate(ctx, tx, req, allowed)
	if err != nil {
		return Result{}, err
	}
	defer s.writes.Add(1)
	entry, call, err := s.insert(ctx, req, creation)
	tx.end(ctx, err, req.Options.DryRun)
	if err != nil {
		return Result{}, s.createError(ctx, call, err, creation.meta)
	}
	return Result{Entry: entry, Created: true}, nil
}

// insert writes a new object. It also returns the call for error texts. As in kube-apiserver, an
// object that is too large is written without its managed fields.
func (s *Store) insert(ctx context.Context, req CreateRequest, creation creation) (*storage.Entry, call, error) {
	name := creation.meta.GetName()
	key, err := s.key(req.Namespace, name)
	call := s.call("create", name, key)
	if err != nil {
		return nil, call, err
	}
	version := creation.meta.GetResourceVersion()
	if err := s.rejectVersion(creation.meta, req.Options); err != nil {
		return nil, call, err
	}
	if err := s.checkReplaced(); err != nil {
		return nil, call, err
	}
	options := storage.CreateOptions{TTL: creation.ttl, DryRun: req.Options.DryRun}
	entry, err := s.storage.Create(ctx, key, req.Object, options)
	if errors.Is(err, storage.ErrTooLarge) && len(creation.meta.GetManagedFields()) > 0 {
		creation.meta.SetManagedFields(nil)
		entry, err = s.storage.Create(ctx, key, req.Object, options)
	}
	if err == nil && version != "" && req.Options.DryRun {
		entry, err = withVersion(ctx, entry, version)
	}
	return entry, call, err
}

// withVersion returns the entry of the same object with a resourceVersion.
func withVersion(ctx context.Context, entry *storage.Entry, version string) (*storage.Entry, error) {
	obj, err := entry.ObjectContext(ctx)
	if err != nil {
		return nil, err
	}
	obj = obj.DeepCopyObject()
	if err := meta.NewAccessor().SetResourceVersion(obj, version); err != nil {
		return nil, err
	}
	return computedEntry(obj), nil
}

// creation is a new object that is ready to be stored.
type creation struct {
	meta metav1.Object
	ttl  int64
}

// allowed is the authorization of a request that the API layer has authorized to create.
func allowed(context.Context) error { return nil }

// prepareCreate runs the strategy, the hooks, validation and validating admission on a new
// object, of a POST or of a PUT. authorize runs on the valid object before validating admission.
// The caller must end tx, also after an error.
func (s *Store) prepareCreate(ctx context.Context, tx *transaction, req CreateRequest, authorize func(context.Context) error) (creation, error) {
	accessor, err := meta.Accessor(req.Object)
	if err != nil {
		return creation{}, err
	}
	if forbidden := s.resource.Strategy.Create.Forbidden; forbidden != nil {
		if err := forbidden(req.Object); err != nil {
			return creation{}, err
		}
	}
	dropDuplicateOwners(ctx, accessor, afterAdmission)
	setSystemFields(accessor, s.now())
	if err := s.beginCreate(ctx, tx, req.Object, req.Options); err != nil {
		return creation{}, err
	}
	if err := s.resource.CheckNamespace(accessor, req.Namespace); err != nil {
		return creation{}, err
	}
	if err := s.completeCreate(ctx, req.Object, accessor); err != nil {
		return creation{}, err
	}
	if err := authorize(ctx); err != nil {
		return creation{}, err
	}
	if err := s.validateAdmission(ctx, tx, createAttributes(req, "")); err != nil {
		return creation{}, err
	}
	return creation{meta: accessor, ttl: s.timeToLive(req.Object)}, nil
}

// completeCreate prepares, validates and canonicalizes a new object by the rules of its kind.
func (s *Store) completeCreate(ctx context.Context, obj runtime.Object, accessor metav1.Object) error {
	strategy := &s.resource.Strategy
	if strategy.Create.Prepare != nil {
		strategy.Create.Prepare(ctx, obj)
	}
	if errs := s.validateCreate(ctx, obj, accessor); len(errs) > 0 {
		return invalid(s.resource.hubKind(), accessor.GetName(), errs)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if strategy.Create.Warnings != nil {
		for _, text := range strategy.Create.Warnings(ctx, obj) {
			AddWarning(ctx, text)
		}
	}
	if strategy.Canonicalize != nil {
		strategy.Canonicalize(obj)
	}
	if s.hooks.Complete != nil {
		s.hooks.Complete(ctx, s.catalog, obj, nil)
	}
	return nil
}

func (s *Store) timeToLive(obj runtime.Object) int64 {
	if s.resource.Strategy.TTL == nil {
		return 0
	}
	return s.resource.Strategy.TTL(obj, false)
}

// rejectVersion rejects a new object with a resourceVersion. A dry run accepts and returns the
// resourceVersion, as in kube-apiserver.
func (s *Store) rejectVersion(obj metav1.Object, opts WriteOptions) error {
	revision, err := s.storage.Versioner().ParseResourceVersion(obj.GetResourceVersion())
	if err != nil {
		return err
	}
	if revision != 0 && !opts.DryRun {
		return versionOnCreate()
	}
	obj.SetResourceVersion("")
	return nil
}

// createError returns the error of a create. The error for a name that exists says whether the
// name was generated, and whether the existing object is being deleted.
func (s *Store) createError(ctx context.Context, c call, err error, obj metav1.Object) error {
	err = c.interpret(err)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	taken := apierrors.NewAlreadyExists(c.resource, c.name)
	if obj.GetGenerateName() != "" {
		taken = apierrors.NewGenerateNameConflict(c.resource, c.name, 1)
	}
	if s.isBeingDeleted(ctx, c.key) {
		taken.ErrStatus.Message = "object is being deleted: " + taken.ErrStatus.Message
	}
	return taken
}

func (s *Store) isBeingDeleted(ctx context.Context, key string) bool {
	entry, err := s.storage.Get(ctx, key, storage.GetOptions{})
	if err != nil {
		return false
	}
	obj, err := entry.ObjectContext(ctx)
	if err != nil {
		return false
	}
	accessor, err := meta.Accessor(obj)
	return err == nil && accessor.GetDeletionTimestamp() != nil
}

// createAttributes returns the admission attributes of a create.
func createAttributes(req CreateRequest, subresource string) *Attributes {
	name := req.Name
	if accessor, err := meta.Accessor(req.Object); err == nil && name == "" {
		name = accessor.GetName()
	}
	return &Attributes{
		Operation:   OperationCreate,
		Subresource: subresource,
		Namespace:   req.Namespace,
		Name:        name,
		Object:      req.Object,
		Options:     req.Options,
	}
}
