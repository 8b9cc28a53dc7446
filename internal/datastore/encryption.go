package datastore

import (
	"context"

	"github.com/miniapi/miniapi/storage/encryption"
)

func (d *Datastore) openEncryption(ctx context.Context) error {
	if d.config.Encryption == nil {
		return nil
	}
	config := *d.config.Encryption
	config.Prefix, config.Logger = d.config.Prefix, d.config.Logger.With("component", "encryption")
	var err error
	d.encryption, err = encryption.Open(ctx, config)
	return err
}

func (d *Datastore) closeEncryption() error {
	if d.encryption == nil {
		return nil
	}
	return d.encryption.Close()
}

// Encryption returns the encryption of values, nil if they are not encrypted.
func (d *Datastore) Encryption() *encryption.Encryption { return d.encryption }
