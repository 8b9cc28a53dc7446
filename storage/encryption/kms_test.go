package encryption

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func provider(e *Encryption) *kmsProvider { return e.current.Load().kms[0] }

// Values of an earlier key of the plugin are readable and stale.
func TestKMSKeyRotation(t *testing.T) {
	path := socket(t)
	plugin := startPlugin(t, path, "key-1")
	e := open(t, configuration("secrets", kms("plugin", path)))
	stored := e.mustEncrypt(t, secretKey, "value")
	e.expect(t, secretKey, stored, "value", false)
	plugin.Rotate("key-2")
	if err := provider(e).refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.expect(t, secretKey, stored, "value", true)
	e.expect(t, secretKey, e.mustEncrypt(t, secretKey, "value"), "value", false)
}

// Values of another server with the same plugin are not stale, although their seed is another one.
func TestKMSSeedOfAnotherServer(t *testing.T) {
	path := socket(t)
	startPlugin(t, path, "key-1")
	content := configuration("secrets", kms("plugin", path))
	open(t, content).expect(t, secretKey, open(t, content).mustEncrypt(t, secretKey, "value"), "value", false)
}

// While the plugin cannot be reached, values can be read, and written for three minutes.
func TestKMSOutage(t *testing.T) {
	path := socket(t)
	plugin := startPlugin(t, path, "key-1")
	e := open(t, configuration("secrets", kms("plugin", path)))
	plugin.Stop()
	stored := e.mustEncrypt(t, secretKey, "value")
	e.expect(t, secretKey, stored, "value", false)

	state := *provider(e).state.Load()
	state.ExpirationTimestamp = time.Now().Add(-time.Second)
	provider(e).state.Store(&state)
	if _, err := e.ToStorage(t.Context(), []byte("value"), secretKey); err == nil || !strings.Contains(err.Error(), "expired at") {
		t.Errorf("a write with an expired seed has the error %v", err)
	}
	e.expect(t, secretKey, stored, "value", false)
}

// A server starts without its plugin, reports that, and continues when the plugin is there.
func TestKMSStartsLater(t *testing.T) {
	path := socket(t)
	e := open(t, configuration("secrets", kmsWithin("plugin", path, "100ms")))
	if _, err := e.ToStorage(t.Context(), []byte("value"), secretKey); err == nil || !strings.Contains(err.Error(), "the KMS plugin has not encrypted a data key yet") {
		t.Errorf("a write without a seed has the error %v", err)
	}
	if err := e.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "kmsv2 Provider plugin is not healthy") {
		t.Errorf("the health check has the error %v", err)
	}
	provider(e).retryInterval, provider(e).client.timeout = time.Millisecond, time.Minute
	changed := e.Changed()
	run(t, e)
	startPlugin(t, path, "key-1")
	receive(t, changed)
	e.expect(t, secretKey, e.mustEncrypt(t, secretKey, "value"), "value", false)
	if err := e.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// A failed decryption is repeated when the plugin is back, and does not delay the next one.
func TestKMSDecryptionIsRepeated(t *testing.T) {
	path := socket(t)
	plugin := startPlugin(t, path, "key-1")
	content := configuration("secrets", kms("plugin", path))
	stored := open(t, content).mustEncrypt(t, secretKey, "value")
	e := open(t, content)
	plugin.Stop()
	provider(e).retryInterval, provider(e).client.timeout = time.Millisecond, 100*time.Millisecond
	e.expectError(t, secretKey, stored, "failed to decrypt DEK")
	if provider(e).client.recentFailure() == nil {
		t.Error("the next decryption will wait for the plugin too")
	}
	provider(e).client.timeout = time.Minute
	changed := e.Changed()
	run(t, e)
	startPlugin(t, path, "key-1")
	receive(t, changed)
	e.expect(t, secretKey, stored, "value", false)
}

// Decryptions that fail more often than the plugin is probed do not delay the probe.
func TestKMSProbeDespiteFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &kmsProvider{retryInterval: probeRetryInterval, client: &kmsClient{failures: make(chan struct{}, 1)}}
		next, began := time.NewTimer(probeInterval), time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var failing sync.WaitGroup
		defer failing.Wait()
		defer cancel()
		failing.Go(func() {
			for ctx.Err() == nil {
				p.client.recordFailure(status.Error(codes.Unavailable, "not reached"))
				time.Sleep(time.Second)
			}
		})
		if !p.await(ctx, next, false) {
			t.Error("the decryption has not failed")
		}
		if waited := time.Since(began); waited != probeRetryInterval {
			t.Errorf("the next probe begins after %v, want %v", waited, probeRetryInterval)
		}
	})
}

// The status of a plugin that is not healthy, or changes the version, is an error.
func TestKMSHealth(t *testing.T) {
	path := socket(t)
	plugin := startPlugin(t, path, "key-1")
	e := open(t, configuration("secrets", kms("plugin", path)))
	if !e.HasHealthCheck() {
		t.Error("there is no health check")
	}
	plugin.SetHealth("the hardware is gone")
	if err := e.Check(t.Context()); err != nil {
		t.Errorf("a recent result is not reused: %v", err)
	}
	if err := provider(e).refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "got unexpected healthz status: the hardware is gone") {
		t.Errorf("got %v", err)
	}
	if err := e.Check(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "kms-provider-0: kmsv2 Provider plugin is not healthy") {
		t.Errorf("got %v", err)
	}
	plugin.SetHealth("ok")
	plugin.Rotate("")
	if err := provider(e).refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "keyID is empty") {
		t.Errorf("got %v", err)
	}
}

// A new file whose plugin is not healthy does not take effect.
func TestReloadRequiresHealthyPlugins(t *testing.T) {
	path := socket(t)
	plugin := startPlugin(t, path, "key-1")
	plugin.SetHealth("starting")
	e := open(t, configuration("secrets", identityProvider))
	write(t, e.config.File, configuration("secrets", kms("plugin", path)))
	loaded := make(chan error)
	go func() {
		next, err := e.reload(t.Context())
		if err == nil {
			err = next.close()
		}
		loaded <- err
	}()
	plugin.SetHealth("ok")
	if err := <-loaded; err != nil {
		t.Error(err)
	}
}
