package crd

import (
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
)

// pruneMetadata gives the metadata of an object the form that decoding into ObjectMeta has.
func pruneMetadata(object map[string]any, opts pruneOptions) (unknown []string, err error) {
	if metadata, ok := object["metadata"].(map[string]any); ok && isCanonical(metadata) {
		if _, ok := metadata["generation"]; opts.repair && !ok {
			metadata["generation"] = int64(1)
		}
		return nil, nil
	}
	metadata, found, unknown, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{
		DropMalformedFields: opts.repair, ReturnUnknownFieldPaths: opts.report,
	})
	if err != nil || !found {
		return nil, err
	}
	if opts.repair && metadata.Generation == 0 {
		metadata.Generation = 1
	}
	return unknown, objectmeta.SetObjectMeta(object, metadata)
}

// isCanonical reports whether metadata already has the form of ObjectMeta, as all stored metadata
// and most metadata of clients have. This saves two conversions through JSON. It may report false
// for canonical metadata.
func isCanonical(metadata map[string]any) bool {
	for name, value := range metadata {
		if is := canonicalFields[name]; is == nil || !is(value) {
			return false
		}
	}
	return true
}

var canonicalFields = map[string]func(any) bool{
	"name":              isText,
	"generateName":      isText,
	"namespace":         isText,
	"uid":               isText,
	"resourceVersion":   isText,
	"generation":        isCount,
	"creationTimestamp": isTime,
	"deletionTimestamp": isTime,
	"labels":            areTexts,
	"annotations":       areTexts,
	"finalizers":        listOf(func(item any) bool { _, ok := item.(string); return ok }),
	"ownerReferences":   listOf(isOwner),
	"managedFields":     listOf(isManager),
}

func isText(value any) bool {
	text, _ := value.(string)
	return text != ""
}

func isCount(value any) bool {
	count, _ := value.(int64)
	return count != 0
}

func isTime(value any) bool {
	text, _ := value.(string)
	at, err := time.Parse("2006-01-02T15:04:05Z", text)
	return err == nil && len(text) == len("2006-01-02T15:04:05Z") && !at.IsZero()
}

func areTexts(value any) bool {
	texts, _ := value.(map[string]any)
	for _, text := range texts {
		if _, ok := text.(string); !ok {
			return false
		}
	}
	return len(texts) > 0
}

func listOf(is func(any) bool) func(any) bool {
	return func(value any) bool {
		list, _ := value.([]any)
		for _, item := range list {
			if !is(item) {
				return false
			}
		}
		return len(list) > 0
	}
}

// isOwner reports whether an item is an owner reference: four fields are required, two optional.
func isOwner(item any) bool {
	owner, _ := item.(map[string]any)
	texts := 0
	for name, value := range owner {
		switch name {
		case "apiVersion", "kind", "name", "uid":
			texts++
			if _, ok := value.(string); !ok {
				return false
			}
		case "controller", "blockOwnerDeletion":
			if _, ok := value.(bool); !ok {
				return false
			}
		default:
			return false
		}
	}
	return texts == 4
}

func isManager(item any) bool {
	manager, ok := item.(map[string]any)
	for name, value := range manager {
		switch name {
		case "manager", "operation", "apiVersion", "fieldsType", "subresource":
			ok = ok && isText(value)
		case "time":
			ok = ok && isTime(value)
		case "fieldsV1":
			_, object := value.(map[string]any)
			ok = ok && object
		default:
			ok = false
		}
	}
	return ok
}
