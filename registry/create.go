package registry

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// nameAttempts is how often a name is made of a generateName until one is free.
const nameAttempts = 8

// Create stores a new object. It is a 409 if the name is taken, and a 500 with
// the text of kube-apiserver if the object carries a resourceVersion.
func (s *Store) Create(ctx context.Context, req CreateRequest) (Result, error) {
	if err := s.sanitize(ctx, req); err != nil {
		return Result{}, err
	}
	var err error
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
	if err := b.checkSize(req.Object, req.Options); err != nil {
		return err
	}
	b.track(req.Object, nil, req.Options, "")
	return ctx.Err()
}

// createWithName makes a name where there is none, another one if that is
// taken. Each attempt starts from the object as it came out of admission.
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

// create stores an object that has a name, or none at all: then it is refused.
func (s *Store) create(ctx context.Context, req CreateRequest) (Result, error) {
	tx := s.begin()
	defer tx.rollback(ctx)
	creation, err := s.prepareCreate(ctx, tx, req, allowed)
	if err != nil {
		return Result{}, err
	}
	defer s.writes.Add(1)
	entry, at, err := s.insert(ctx, req, creation)
	tx.end(ctx, err, req.Options.DryRun)
	if err != nil {
		return Result{}, s.createError(ctx, at, err, creation.meta)
	}
	return Result{Entry: entry, Created: true}, nil
}

// insert writes a new object where nothing is, and says where that was.
func (s *Store) insert(ctx context.Context, req CreateRequest, creation creation) (*storage.Entry, call, error) {
	name := creation.meta.GetName()
	key, err := s.key(req.Namespace, name)
	at := s.call("create", name, key)
	if err != nil {
		return nil, at, err
	}
	if err := s.refuseVersion(creation.meta, req.Options); err != nil {
		return nil, at, err
	}
	entry, err := s.storage.Create(ctx, key, req.Object, storage.CreateOptions{TTL: creation.ttl, DryRun: req.Options.DryRun})
	return entry, at, err
}

// creation is an object that is ready to be stored.
type creation struct {
	meta metav1.Object
	ttl  int64
}

// allowed is the authorization of a request that the API layer has authorized to create.
func allowed(context.Context) error { return nil }

// prepareCreate makes a new object ready to be stored, whether a POST or a PUT brought it.
// authorize runs on a valid object, before validating admission. The caller ends tx, also after
// an error.
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
	fillSystemFields(accessor, s.now())
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

// completeCreate applies the kind's own rules to a new object.
func (s *Store) completeCreate(ctx context.Context, obj runtime.Object, accessor metav1.Object) error {
	strategy := &s.resource.Strategy
	if strategy.Create.Prepare != nil {
		strategy.Create.Prepare(ctx, obj)
	}
	if faults := s.validateCreate(ctx, obj, accessor); len(faults) > 0 {
		return invalid(s.resource.hubKind(), accessor.GetName(), faults)
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

// refuseVersion allows no version on a new object. In a dry run it is dropped,
// as kube-apiserver does.
func (s *Store) refuseVersion(obj metav1.Object, opts WriteOptions) error {
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

// createError adds to a name that is taken whether the server chose it, and
// whether its holder is on its way out.
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
	obj, err := entry.Object()
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
