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

// kubeconfigFile is a written kubeconfig.
type kubeconfigFile struct {
	path      string
	temporary bool // removed on exit, since the user did not choose the path
}

// writeKubeconfig writes the kubeconfig of the server to path, or to a temporary file if path is
// empty. It writes the whole file or none.
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
		return file, fmt.Errorf("cannot write the kubeconfig %s: %w: choose another file with --write-kubeconfig FILE", file.path, err)
	}
	return file, nil
}

// defaultKubeconfig returns a path that contains the port, so that several servers do not overwrite
// each other's files.
func defaultKubeconfig(server *miniapi.Server) (kubeconfigFile, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return kubeconfigFile{}, fmt.Errorf("no cache directory for the kubeconfig: %w: choose a file with --write-kubeconfig FILE", err)
	}
	dir := filepath.Join(cache, "miniapi")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return kubeconfigFile{}, fmt.Errorf("no cache directory for the kubeconfig: %w: choose a file with --write-kubeconfig FILE", err)
	}
	u, err := url.Parse(server.URL())
	if err != nil {
		return kubeconfigFile{}, err
	}
	name := "kubeconfig-" + strings.NewReplacer(":", "-", "[", "", "]", "").Replace(u.Host)
	return kubeconfigFile{path: filepath.Join(dir, name), temporary: true}, nil
}

// replaceFile writes a file with mode 0600.
func replaceFile(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".kubeconfig-*")
	if err != nil {
		return errors.Unwrap(err) // without the temporary name
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
