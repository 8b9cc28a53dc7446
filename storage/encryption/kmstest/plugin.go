// Package kmstest has a plugin of KMS version 2 for tests.
package kmstest

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	kmsapi "k8s.io/kms/apis/v2"
)

// Plugin encrypts with a key that it derives from the ID of the key, so every plugin decrypts what
// another one has encrypted. It is safe for concurrent use.
type Plugin struct {
	kmsapi.UnimplementedKeyManagementServiceServer
	server *grpc.Server

	mu       sync.Mutex // guards the fields below
	keyID    string
	health   string
	decrypts int
}

// Start serves a plugin at a socket.
func Start(socket, keyID string) (*Plugin, error) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	p := &Plugin{server: grpc.NewServer(), keyID: keyID, health: "ok"}
	kmsapi.RegisterKeyManagementServiceServer(p.server, p)
	go func() { _ = p.server.Serve(listener) }() // ends with Stop
	return p, nil
}

// Stop ends the plugin and removes the socket.
func (p *Plugin) Stop() { p.server.Stop() }

// Rotate makes the plugin encrypt with another key.
func (p *Plugin) Rotate(keyID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keyID = keyID
}

// SetHealth sets the health that the plugin reports, "ok" if it is healthy.
func (p *Plugin) SetHealth(health string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.health = health
}

// Decrypts returns the number of decryptions.
func (p *Plugin) Decrypts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.decrypts
}

// Status implements the protocol.
func (p *Plugin) Status(context.Context, *kmsapi.StatusRequest) (*kmsapi.StatusResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &kmsapi.StatusResponse{Version: "v2", Healthz: p.health, KeyId: p.keyID}, nil
}

// Encrypt implements the protocol.
func (p *Plugin) Encrypt(_ context.Context, req *kmsapi.EncryptRequest) (*kmsapi.EncryptResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	aead, err := cipherOf(p.keyID)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce) // never fails
	return &kmsapi.EncryptResponse{
		Ciphertext:  aead.Seal(nonce, nonce, req.Plaintext, nil),
		KeyId:       p.keyID,
		Annotations: map[string][]byte{"kmstest.example.com": []byte("1")},
	}, nil
}

// Decrypt implements the protocol.
func (p *Plugin) Decrypt(_ context.Context, req *kmsapi.DecryptRequest) (*kmsapi.DecryptResponse, error) {
	p.mu.Lock()
	p.decrypts++
	p.mu.Unlock()
	aead, err := cipherOf(req.KeyId)
	if err != nil {
		return nil, err
	}
	size := aead.NonceSize()
	if len(req.Ciphertext) < size {
		return nil, errors.New("the ciphertext is too short")
	}
	plaintext, err := aead.Open(nil, req.Ciphertext[:size], req.Ciphertext[size:], nil)
	if err != nil {
		return nil, fmt.Errorf("decrypt with key %s: %w", req.KeyId, err)
	}
	return &kmsapi.DecryptResponse{Plaintext: plaintext}, nil
}

func cipherOf(keyID string) (cipher.AEAD, error) {
	secret := sha256.Sum256([]byte("kmstest:" + keyID))
	block, err := aes.NewCipher(secret[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
