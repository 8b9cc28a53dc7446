package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/examples/controller"
	"github.com/miniapi/miniapi/miniapitest"
)

// copierSuite has two ConfigMaps to copy, and changes one and adds one while the controller runs.
var copierSuite = miniapitest.FaultSuite{
	Parallel: true,
	Timeout:  patience, // no run reaches it
	Prepare: func(ctx context.Context, server *miniapitest.Server) error {
		client, err := kubernetes.NewForConfig(server.RESTConfig())
		if err != nil {
			return err
		}
		for _, name := range []string{"a", "b"} {
			if err := createSource(ctx, client, name); err != nil {
				return err
			}
		}
		return nil
	},
	Change: func(ctx context.Context, config *rest.Config) error {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		patch := []byte(`{"data":{"key":"changed"}}`)
		if _, err := client.CoreV1().ConfigMaps(namespace).Patch(ctx, "a", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
			return err
		}
		return createSource(ctx, client, "c")
	},
}

func createSource(ctx context.Context, client kubernetes.Interface, name string) error {
	_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{controller.CopyTo: "copy-of-" + name}},
		Data:       map[string]string{"key": "value of " + name},
	}, metav1.CreateOptions{})
	return err
}

// copier returns the function that builds the example with mistakes.
func copier(mistakes controller.Mistakes) miniapitest.ControllerFunc {
	return func(t *testing.T, config *rest.Config) (run, converged func(context.Context) error) {
		c, err := controller.New(config, mistakes)
		check(t, err)
		client, err := kubernetes.NewForConfig(config)
		check(t, err)
		return c.Run, func(ctx context.Context) error { return allCopied(ctx, client) }
	}
}

// allCopied returns nil if each ConfigMap with the annotation has its copy.
func allCopied(ctx context.Context, client kubernetes.Interface) error {
	sources, err := client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	copies, err := client.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	data := map[string]string{}
	for _, secret := range copies.Items {
		if owner := metav1.GetControllerOf(&secret); owner != nil {
			data[owner.Name] = string(secret.Data["key"])
		}
	}
	for _, source := range sources.Items {
		switch {
		case source.Annotations[controller.CopyTo] == "":
		case data[source.Name] != source.Data["key"]:
			return fmt.Errorf("the copy of %s has %q, want %q", source.Name, data[source.Name], source.Data["key"])
		case source.Annotations[controller.Copied] != controller.Hash(source.Data):
			return fmt.Errorf("%s is not recorded as copied", source.Name)
		}
	}
	return nil
}

func TestFaultSuiteOfSoundController(t *testing.T) {
	t.Parallel()
	programsDir(t)
	copierSuite.Run(t, copier(controller.Mistakes{}))
}

// allFailures are the names of the failures of the suite.
var allFailures = []string{
	"conflict", "conflict-after-read", "timeout-create", "timeout-update", "too-many-requests", "server-errors",
	"watch-closed", "watch-expired", "stale-cache", "event-storm", "restart", "leader-lost",
}

// TestFaultSuiteFindsMistakes runs the controller with one mistake at a time. The suite fails if a
// failure of the list is survived, or another one is not. Only the former runs take their whole
// timeout.
func TestFaultSuiteFindsMistakes(t *testing.T) {
	t.Parallel()
	programsDir(t)
	for name, c := range map[string]struct {
		mistakes controller.Mistakes
		found    []string
		skip     []string
	}{
		"no retry after a conflict": {
			mistakes: controller.Mistakes{DropConflicts: true},
			found:    []string{"conflict", "conflict-after-read"},
		},
		"update from a stale copy without a resourceVersion": {
			mistakes: controller.Mistakes{BlindUpdates: true},
			found:    []string{"conflict-after-read"},
			skip:     []string{"event-storm", "stale-cache"}, // whether an update meets another write is chance
		},
		"AlreadyExists after a timeout is an error": {
			mistakes: controller.Mistakes{FailOnExisting: true},
			found:    []string{"timeout-create"},
		},
		"the first three at once": {
			mistakes: controller.Mistakes{DropConflicts: true, BlindUpdates: true, FailOnExisting: true},
			found:    []string{"conflict", "conflict-after-read", "timeout-create"},
			skip:     []string{"event-storm", "stale-cache"},
		},
		"a second object after a timeout": {
			mistakes: controller.Mistakes{GeneratedNames: true},
			found:    []string{"timeout-create"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("found", func(t *testing.T) {
				suite := copierSuite
				suite.KnownFailures, suite.Timeout = c.found, 30*time.Second
				for _, failure := range allFailures {
					if !slices.Contains(c.found, failure) {
						suite.Skip = append(suite.Skip, failure)
					}
				}
				suite.Run(t, copier(c.mistakes))
			})
			t.Run("survived", func(t *testing.T) {
				suite := copierSuite
				suite.Skip = slices.Concat(c.found, c.skip)
				suite.Run(t, copier(c.mistakes))
			})
		})
	}
}
