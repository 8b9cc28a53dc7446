package manifests

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"k8s.io/client-go/rest"
)

// Config names the files that a server loads at its start.
type Config struct {
	// CRDs are files and folders of CustomResourceDefinitions.
	CRDs []string
	// Folder is a folder of manifests that is watched for changes. Empty: none.
	Folder string
	// Client connects to the server as an administrator.
	Client *rest.Config
	Logger *slog.Logger
}

// Validate returns an error for each file or folder that does not exist, joined.
func (c Config) Validate() error {
	var errs []error
	for _, path := range c.CRDs {
		if _, err := os.Stat(path); err != nil {
			errs = append(errs, crdsError(err))
		}
	}
	if c.Folder != "" {
		errs = append(errs, folderError(CheckFolder(c.Folder)))
	}
	return errors.Join(errs...)
}

func crdsError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("CustomResourceDefinitions (--crds): %w", err)
}

func folderError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("manifests (--manifests): %w", err)
}

// Loader applies the files of a Config.
type Loader struct {
	config Config
	folder *Folder // nil without Config.Folder
}

// NewLoader returns a loader. It starts nothing and sends no request.
func NewLoader(config Config) (*Loader, error) {
	l := &Loader{config: config}
	if config.Folder == "" {
		return l, nil
	}
	applier, err := NewApplier(config.Client)
	if err != nil {
		return nil, err
	}
	l.folder = NewFolder(config.Folder, applier, config.Logger)
	return l, nil
}

// Load applies all files. It is called once.
func (l *Loader) Load(ctx context.Context) error {
	if len(l.config.CRDs) > 0 {
		if err := InstallCRDs(ctx, l.config.Client, l.config.CRDs...); err != nil {
			return crdsError(err)
		}
	}
	if l.folder == nil {
		return nil
	}
	return folderError(l.folder.Load(ctx))
}

// Run applies changed files of the folder until ctx ends, which is no error.
func (l *Loader) Run(ctx context.Context) error {
	if l.folder == nil {
		return nil
	}
	return l.folder.Run(ctx)
}

// InstallCRDs applies the CustomResourceDefinitions in files and folders and returns when all are
// served. Other objects in the files are ignored. A path without definitions is an error.
func InstallCRDs(ctx context.Context, client *rest.Config, paths ...string) error {
	var found []Object
	for _, path := range paths {
		objects, err := Read(path)
		if err != nil {
			return err
		}
		defined := Definitions(objects)
		if len(defined) == 0 {
			return fmt.Errorf("%s contains no CustomResourceDefinition: name a file, or the folder of the files, such as config/crd/bases (subfolders are not read)", path)
		}
		found = append(found, defined...)
	}
	applier, err := NewApplier(client)
	if err != nil {
		return err
	}
	return applier.Apply(ctx, found)
}
