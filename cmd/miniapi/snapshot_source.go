package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/miniapi/miniapi"
)

// snapshotSource is a snapshot that a subcommand reads.
type snapshotSource struct{ file, prefix, encryption string }

// String returns a name for texts.
func (s snapshotSource) String() string { return filepath.Base(s.file) }

// serve starts a server of the snapshot and returns a client of it, which the caller must close.
// The server authenticates requests: other users of the machine cannot read the snapshot.
func (s snapshotSource) serve(ctx context.Context) (*serverClient, error) {
	server, err := miniapi.Start(ctx, miniapi.Config{
		FromSnapshot: s.file, EtcdPrefix: s.prefix, EncryptionProviderConfig: s.encryption, Secure: &miniapi.Secure{}, TestAPIs: true,
	})
	if err != nil {
		return nil, err
	}
	stop := func() { _ = server.Stop(context.WithoutCancel(ctx)) } // nothing was written
	client, err := newServerClient(server.RESTConfig())
	if err != nil {
		stop()
		return nil, errors.New("client of the snapshot: " + err.Error())
	}
	client.stop = stop
	return client, nil
}
