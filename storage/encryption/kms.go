package encryption

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2"
	kmsservice "k8s.io/kms/pkg/service"
)

// The times of kube-apiserver.
const (
	probeInterval      = time.Minute
	probeRetryInterval = 10 * time.Second
	// healthyFor and unhealthyFor are how long the result of a check is reused.
	healthyFor   = 20 * time.Second
	unhealthyFor = 3 * time.Second
	// writableFor is how long the data key encrypts values after the last successful probe.
	writableFor = 3 * time.Minute
)

var errNoDataKey = errors.New("the KMS plugin has not encrypted a data key yet")

// kmsProvider encrypts values with keys that are derived from a seed, which a KMS plugin has
// encrypted. The seed is replaced when the plugin reports another key.
type kmsProvider struct {
	name    string
	timeout time.Duration
	client  *kmsClient
	// interval and retryInterval are the times between probes, after a success and a failure.
	interval, retryInterval time.Duration
	// state has the seed that encrypts values. Nil: the plugin was never healthy.
	state atomic.Pointer[kmsv2.State]

	mu      sync.Mutex // guards the fields below
	version string     // of the protocol, in the first answer of the plugin
	checked time.Time  // of the last check
	healthy error      // the result of the last check
}

// newKMSProvider returns a provider. It sends nothing.
func newKMSProvider(config *apiserver.KMSConfiguration) (*kmsProvider, error) {
	client, err := newKMSClient(config.Endpoint, config.Timeout.Duration)
	if err != nil {
		return nil, fmt.Errorf("kms provider %s: %w", config.Name, err)
	}
	return &kmsProvider{
		name: config.Name, timeout: config.Timeout.Duration, client: client,
		interval: probeInterval, retryInterval: probeRetryInterval,
	}, nil
}

func (p *kmsProvider) close() error { return p.client.close() }

func (p *kmsProvider) transformer() value.Transformer {
	return kmsv2.NewEnvelopeTransformer(p.client, p.name, p.current, "")
}

// current returns the seed that encrypts values.
func (p *kmsProvider) current() (kmsv2.State, error) {
	state := p.state.Load()
	if state == nil {
		return kmsv2.State{}, fmt.Errorf("kms provider %s: %w", p.name, errNoDataKey)
	}
	return *state, nil
}

// probe checks the plugin until ctx ends. It calls recovered when the plugin is healthy after a
// failed check or decryption.
func (p *kmsProvider) probe(ctx context.Context, logger *slog.Logger, recovered func()) {
	logged := ""
	failed := p.state.Load() == nil
	next := time.NewTimer(p.pause(failed))
	defer next.Stop()
	for ; ; next.Reset(p.pause(failed)) {
		failed = p.await(ctx, next, failed)
		err := p.refresh(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && failed:
			failed, logged = false, ""
			recovered()
		case err != nil:
			failed = true
			if err.Error() != logged {
				logged = err.Error()
				logger.WarnContext(ctx, "a KMS plugin failed", "provider", p.name, "error", err)
			}
		}
	}
}

// pause returns the time until the next probe.
func (p *kmsProvider) pause(failed bool) time.Duration {
	if failed {
		return p.retryInterval
	}
	return p.interval
}

// await waits for the next probe or the end of ctx. The first failure of a decryption brings the
// probe forward. Later failures do not move it: they can come more often than probes. It reports
// whether the last check or a decryption has failed.
func (p *kmsProvider) await(ctx context.Context, next *time.Timer, failed bool) bool {
	for {
		select {
		case <-ctx.Done():
			return failed
		case <-next.C:
			return failed
		case <-p.client.failures:
			if !failed {
				failed = true
				next.Reset(p.pause(failed))
			}
		}
	}
}

// check returns the result of the last check, after a new check if that is too old.
func (p *kmsProvider) check(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	age := healthyFor
	if p.healthy != nil {
		age = unhealthyFor
	}
	if time.Since(p.checked) < age {
		return p.healthy
	}
	return p.refreshLocked(ctx)
}

// refresh checks the plugin.
func (p *kmsProvider) refresh(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refreshLocked(ctx)
}

func (p *kmsProvider) refreshLocked(ctx context.Context) error {
	err := p.evaluate(ctx)
	if err != nil {
		err = fmt.Errorf("kmsv2 Provider %s is not healthy, error: %w", p.name, err)
	}
	p.checked, p.healthy = time.Now(), err
	return err
}

// evaluate requests the status of the plugin, and replaces the seed if the plugin reports another
// key. The caller holds mu.
func (p *kmsProvider) evaluate(ctx context.Context) error {
	status, err := p.client.Status(ctx)
	if err != nil {
		return fmt.Errorf("failed to perform status section of the healthz check for KMS Provider %s, error: %w", p.name, err)
	}
	var errs []error
	if status.Healthz != "ok" {
		errs = append(errs, fmt.Errorf("got unexpected healthz status: %s", status.Healthz))
	}
	errs = append(errs, p.checkVersion(status.Version))
	if _, err := kmsv2.ValidateKeyID(status.KeyID); err != nil {
		errs = append(errs, fmt.Errorf("got invalid KMSv2 KeyID hash %q: %w", kmsv2.GetHashIfNotEmpty(status.KeyID), err))
	} else {
		errs = append(errs, p.rotate(ctx, status.KeyID))
	}
	return utilerrors.Reduce(utilerrors.NewAggregate(errs))
}

func (p *kmsProvider) checkVersion(version string) error {
	switch {
	case version != kmsv2.KMSAPIVersionv2 && version != kmsv2.KMSAPIVersionv2beta1:
		return fmt.Errorf("expected KMSv2 API version %s, got %s", kmsv2.KMSAPIVersionv2, version)
	case p.version == "":
		p.version = version
	case p.version != version:
		return fmt.Errorf("KMSv2 API version should not change after the initial status response version %s, got %s", p.version, version)
	}
	return nil
}

// rotate replaces the seed if it was encrypted with another key than the present one. Otherwise it
// extends the time for which the seed encrypts values.
func (p *kmsProvider) rotate(ctx context.Context, keyID string) error {
	until := time.Now().Add(writableFor)
	old := p.state.Load()
	if old != nil && old.EncryptedObjectKeyID == keyID {
		next := *old
		next.ExpirationTimestamp = until
		p.state.Store(&next)
		return nil
	}
	uid := string(uuid.NewUUID())
	transformer, object, cacheKey, err := kmsv2.GenerateTransformer(ctx, uid, p.client, true)
	if err != nil {
		return fmt.Errorf("failed to rotate DEK: %w", err)
	}
	if object.KeyID != keyID {
		return fmt.Errorf("failed to rotate DEK: the plugin encrypts with the key of hash %s, and its status has the key of hash %s", kmsv2.GetHashIfNotEmpty(object.KeyID), kmsv2.GetHashIfNotEmpty(keyID))
	}
	p.state.Store(&kmsv2.State{
		Transformer:                           transformer,
		EncryptedObjectKeyID:                  object.KeyID,
		EncryptedObjectEncryptedDEKSource:     object.EncryptedDEKSource,
		EncryptedObjectAnnotations:            object.Annotations,
		EncryptedObjectEncryptedDEKSourceType: object.EncryptedDEKSourceType,
		UID:                                   uid,
		ExpirationTimestamp:                   until,
		CacheKey:                              cacheKey,
		KMSProviderName:                       p.name,
	})
	return nil
}

var _ kmsservice.Service = (*kmsClient)(nil)
