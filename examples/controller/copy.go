package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// CopyTo is the annotation with the name of the Secret.
	CopyTo = "example.com/copy-to"
	// Copied is the annotation with the hash of the copied data.
	Copied = "example.com/copied"
)

// Hash returns a hash of the data of a ConfigMap.
func Hash(data map[string]string) string {
	encoded, _ := json.Marshal(data) // has no error for strings
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8])
}

// reconcile brings the copy of a ConfigMap up to date.
func (c *Controller) reconcile(ctx context.Context, key types.NamespacedName) error {
	source, err := c.sources.ConfigMaps(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || source.Annotations[CopyTo] == "" || source.Annotations[Copied] == Hash(source.Data) {
		return err
	}
	if err := c.create(ctx, source); err != nil {
		return err
	}
	if err := c.update(ctx, source); err != nil {
		return err
	}
	return c.record(ctx, source)
}

// create creates the copy, unless this process has done it before. A copy that exists is the work
// of an earlier process, or of an earlier request whose answer was lost.
func (c *Controller) create(ctx context.Context, source *corev1.ConfigMap) error {
	if c.copies[source.UID] != "" {
		return nil
	}
	target := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:            source.Annotations[CopyTo],
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(source, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
		},
		StringData: source.Data,
	}
	if c.mistakes.GeneratedNames {
		target.Name, target.GenerateName = "", target.Name+"-"
	}
	created, err := c.client.CoreV1().Secrets(source.Namespace).Create(ctx, target, metav1.CreateOptions{})
	switch {
	case err == nil:
		c.copies[source.UID] = created.Name
	case apierrors.IsAlreadyExists(err) && !c.mistakes.FailOnExisting:
		c.copies[source.UID] = target.Name
	default:
		return err
	}
	return nil
}

// update writes the data to the copy, if they differ.
func (c *Controller) update(ctx context.Context, source *corev1.ConfigMap) error {
	secrets := c.client.CoreV1().Secrets(source.Namespace)
	target, err := secrets.Get(ctx, c.copies[source.UID], metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		delete(c.copies, source.UID) // the next try creates it
	}
	if err != nil {
		return err
	}
	if !metav1.IsControlledBy(target, source) {
		return fmt.Errorf("the Secret %s/%s is not a copy of ConfigMap %s", target.Namespace, target.Name, source.Name)
	}
	data := map[string][]byte{}
	for key, value := range source.Data {
		data[key] = []byte(value)
	}
	if maps.EqualFunc(target.Data, data, func(a, b []byte) bool { return string(a) == string(b) }) {
		return nil
	}
	target.Data = data
	_, err = secrets.Update(ctx, target, metav1.UpdateOptions{})
	return err
}

// record sets the annotation Copied. The informer's copy of the ConfigMap may be old, so the update
// has its resourceVersion: the server rejects it if another client has written since.
func (c *Controller) record(ctx context.Context, source *corev1.ConfigMap) error {
	done := source.DeepCopy()
	done.Annotations[Copied] = Hash(source.Data)
	if c.mistakes.BlindUpdates {
		done.ResourceVersion = ""
	}
	_, err := c.client.CoreV1().ConfigMaps(done.Namespace).Update(ctx, done, metav1.UpdateOptions{})
	return err
}
