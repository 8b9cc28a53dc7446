package encryption

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	kmsapi "k8s.io/kms/apis/v2"
	kmsservice "k8s.io/kms/pkg/service"
	kmsutil "k8s.io/kms/pkg/util"
)

// decryptPause is the time for which decryptions fail at once after the plugin could not be
// reached. Otherwise each of many values would delay the log of changes by the timeout.
const decryptPause = time.Second

// kmsClient is a client of a KMS plugin. Each call ends at the timeout.
type kmsClient struct {
	conn    *grpc.ClientConn
	client  kmsapi.KeyManagementServiceClient
	timeout time.Duration
	// failures receives a value when the plugin could not be reached for a decryption.
	failures chan struct{}

	mu       sync.Mutex // guards the fields below
	failed   error      // of the last decryption for which the plugin could not be reached
	failedAt time.Time
}

// newKMSClient returns a client of the plugin at a URL such as unix:///run/kms.sock. It connects
// with the first call.
func newKMSClient(endpoint string, timeout time.Duration) (*kmsClient, error) {
	path, err := kmsutil.ParseEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient("passthrough:///"+path,
		grpc.WithAuthority("localhost"),
		grpc.WithTransportCredentials(insecure.NewCredentials()), // a socket in the file system
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "unix", path)
		}))
	if err != nil {
		return nil, fmt.Errorf("endpoint %s: %w", endpoint, err)
	}
	return &kmsClient{
		conn: conn, client: kmsapi.NewKeyManagementServiceClient(conn), timeout: timeout, failures: make(chan struct{}, 1),
	}, nil
}

func (c *kmsClient) close() error { return c.conn.Close() }

// Status implements kmsservice.Service.
func (c *kmsClient) Status(ctx context.Context) (*kmsservice.StatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	resp, err := c.client.Status(ctx, &kmsapi.StatusRequest{})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.failed = nil // it can be reached
	c.mu.Unlock()
	return &kmsservice.StatusResponse{Version: resp.Version, Healthz: resp.Healthz, KeyID: resp.KeyId}, nil
}

// Encrypt implements kmsservice.Service.
func (c *kmsClient) Encrypt(ctx context.Context, uid string, data []byte) (*kmsservice.EncryptResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	resp, err := c.client.Encrypt(ctx, &kmsapi.EncryptRequest{Plaintext: data, Uid: uid})
	if err != nil {
		return nil, err
	}
	return &kmsservice.EncryptResponse{Ciphertext: resp.Ciphertext, KeyID: resp.KeyId, Annotations: resp.Annotations}, nil
}

// Decrypt implements kmsservice.Service.
func (c *kmsClient) Decrypt(ctx context.Context, uid string, req *kmsservice.DecryptRequest) ([]byte, error) {
	if err := c.recentFailure(); err != nil {
		return nil, err
	}
	calling, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	resp, err := c.client.Decrypt(calling, &kmsapi.DecryptRequest{
		Ciphertext: req.Ciphertext, Uid: uid, KeyId: req.KeyID, Annotations: req.Annotations,
	})
	if err != nil {
		if ctx.Err() == nil { // otherwise the caller has given up
			c.recordFailure(err)
		}
		return nil, err
	}
	return resp.Plaintext, nil
}

// recentFailure returns the error of a plugin that could not be reached a moment ago, or nil.
func (c *kmsClient) recentFailure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.failedAt) < decryptPause {
		return c.failed
	}
	return nil
}

// recordFailure records that the plugin cannot be reached. Other errors concern one value.
func (c *kmsClient) recordFailure(err error) {
	if code := status.Code(err); code != codes.Unavailable && code != codes.DeadlineExceeded {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed, c.failedAt = err, time.Now()
	select {
	case c.failures <- struct{}{}:
	default: // the probe has not seen the last one yet
	}
}
