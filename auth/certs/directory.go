package certs

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/miniapi/miniapi/internal/filelock"
)

// lockTimeout limits the wait for another process that creates files in the same Directory.
const (
	lockTimeout  = time.Minute
	lockInterval = 2 * time.Millisecond
)

// Directory is a folder of certificates and keys with the file names of kubeadm: NAME.crt and
// NAME.key. Missing files are created, so that certificates and tokens stay valid when the server
// starts again. The empty Directory keeps everything in memory. Processes may share a Directory.
type Directory string

// Authority loads or creates the CA NAME.crt and NAME.key. For an external CA the result is a new
// CA in memory.
func (d Directory) Authority(name, commonName string) (*Authority, error) {
	if d.external(name) {
		d = ""
	}
	pair, err := d.pair(name, func(*x509.Certificate) bool { return true }, func() (Pair, error) {
		return newAuthorityPair(commonName)
	})
	if err != nil {
		return nil, err
	}
	authority, err := parseAuthority(pair)
	if err != nil {
		return nil, fmt.Errorf("certificate authority %s: %w", d.path(name+".crt"), err)
	}
	return authority, nil
}

// external reports whether a CA certificate exists without its key, so that this process cannot
// sign with it.
func (d Directory) external(name string) bool {
	return d != "" && !absent(d.path(name+".crt")) && absent(d.path(name+".key"))
}

// pair loads NAME.crt and NAME.key. It issues and stores a new pair if both are absent, or if the
// certificate is not usable.
func (d Directory) pair(name string, usable func(*x509.Certificate) bool, issue func() (Pair, error)) (Pair, error) {
	if d == "" {
		return issue()
	}
	certificate, key := d.path(name+".crt"), d.path(name+".key")
	var pair Pair
	load := func(locked bool) (found bool, err error) {
		if locked {
			finishWrite(certificate, key)
		}
		if absent(certificate) && absent(key) {
			return false, nil
		}
		if pair, err = LoadPair(certificate, key); err != nil {
			return false, err
		}
		leaf, err := pair.leaf()
		return err == nil && usable(leaf), err
	}
	err := d.create(load, func() (err error) {
		if pair, err = issue(); err != nil {
			return err
		}
		return pair.write(certificate, key)
	})
	return pair, err
}

// write stores the pair. The key gets its name first, so that a certificate always has a key.
func (p Pair) write(certificate, key string) error {
	err := errors.Join(os.WriteFile(certificate+unfinished, p.Certificate, 0o644), os.WriteFile(key+unfinished, p.Key, 0o600))
	if err != nil {
		return err
	}
	if err := os.Rename(key+unfinished, key); err != nil {
		return err
	}
	return os.Rename(certificate+unfinished, certificate)
}

// finishWrite gives a certificate its name if a crash has prevented that after its key got its own.
func finishWrite(certificate, key string) {
	if _, err := LoadPair(certificate, key); err == nil {
		return
	}
	if _, err := LoadPair(certificate+unfinished, key); err == nil {
		_ = os.Rename(certificate+unfinished, certificate) // loading the certificate fails too
	}
}

// Secret loads a file with mode 0600, or stores the result of generate in it.
func (d Directory) Secret(name string, generate func() ([]byte, error)) ([]byte, error) {
	if d == "" {
		return generate()
	}
	path := d.path(name)
	var secret []byte
	load := func(bool) (found bool, err error) {
		secret, err = os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}
	err := d.create(load, func() (err error) {
		if secret, err = generate(); err != nil {
			return err
		}
		return writeFile(path, secret, 0o600)
	})
	return secret, err
}

// create calls store if load finds nothing. Of several processes, only one stores.
func (d Directory) create(load func(locked bool) (found bool, err error), store func() error) error {
	// Another process may be writing the files, so an error counts only while the lock is held.
	found, loadErr := load(false)
	if found {
		return nil
	}
	lock, err := d.lock()
	if err != nil {
		return cmp.Or(loadErr, fmt.Errorf("certificate directory: %w", err))
	}
	defer lock.Close()
	if found, err := load(true); found || err != nil {
		return err
	}
	if err := store(); err != nil {
		return fmt.Errorf("certificate directory: %w", err)
	}
	return nil
}

// lock creates the directory and takes its lock, which closing the file releases. Another process
// holds it only while it writes a few files.
func (d Directory) lock() (*os.File, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(lockTimeout); ; time.Sleep(lockInterval) {
		lock, err := filelock.TryLockFile(d.path(".lock"), os.O_CREATE|os.O_RDWR)
		if !errors.Is(err, filelock.ErrLocked) || time.Now().After(deadline) {
			return lock, err
		}
	}
}

func (d Directory) path(name string) string { return filepath.Join(string(d), name) }

// unfinished follows the name of a file that is not yet written.
const unfinished = ".new"

// writeFile writes a file as a whole: after a crash, it has the old or the new content.
func writeFile(path string, data []byte, mode fs.FileMode) error {
	if err := os.WriteFile(path+unfinished, data, mode); err != nil {
		return err
	}
	return os.Rename(path+unfinished, path)
}

func absent(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
