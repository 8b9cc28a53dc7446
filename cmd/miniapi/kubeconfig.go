package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/miniapi/miniapi"
)

// kubeconfigFile is the kubeconfig that was written.
type kubeconfigFile struct {
	path string
	// temporary: nobody asked for the file, so it goes with the server.
	temporary bool
}

// writeKubeconfig writes the server's kubeconfig to path, or to a file of its
// own if path is empty. The file appears whole or not at all.
func writeKubeconfig(server *miniapi.Server, path string) (kubeconfigFile, error) {
	file := kubeconfigFile{path: path}
	if path == "" {
		var err error
		if file, err = defaultKubeconfig(server); err != nil {
			return file, err
		}
	}
	data, err := server.Kubeconfig()
	if err != nil {
		return file, err
	}
	if err := replaceFile(file.path, data); err != nil {
		return file, fmt.Errorf("cannot write the kubeconfig %s (--write-kubeconfig FILE says where): %w", file.path, err)
	}
	return file, nil
}

// defaultKubeconfig names a file by the server's port, so that servers side by
// side do not overwrite each other's.
func defaultKubeconfig(server *miniapi.Server) (kubeconfigFile, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return kubeconfigFile{}, fmt.Errorf("no place for the kubeconfig, name one with --write-kubeconfig FILE: %w", err)
	}
	dir := filepath.Join(cache, "miniapi")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return kubeconfigFile{}, fmt.Errorf("no place for the kubeconfig, name one with --write-kubeconfig FILE: %w", err)
	}
	u, err := url.Parse(server.URL())
	if err != nil {
		return kubeconfigFile{}, err
	}
	name := "kubeconfig-" + strings.NewReplacer(":", "-", "[", "", "]", "").Replace(u.Host)
	return kubeconfigFile{path: filepath.Join(dir, name), temporary: true}, nil
}

// replaceFile writes a file that only its owner can read.
func replaceFile(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".kubeconfig-*")
	if err != nil {
		return errors.Unwrap(err) // without the made-up name
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

func (f kubeconfigFile) remove() {
	if !f.temporary {
		return
	}
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(os.Stderr, "miniapi:", err)
	}
}
