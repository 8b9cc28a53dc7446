package e2e_test

import (
	"slices"

	"github.com/anishathalye/porcupine"
)

// closed returns a history with an end marker, as the checker requires.
func closed(history []porcupine.Operation) []porcupine.Operation {
	end := int64(0)
	for _, operation := range history {
		end = max(end, operation.Return)
	}
	for i := range history {
		// It is unknown whether and when a request without a response was done.
		if history[i].Output.(output).outcome == unknown {
			history[i].Return = end + 2
		}
	}
	resolve(history)
	chain(history)
	return append(history, porcupine.Operation{Input: input{verb: verbEnd}, Output: output{outcome: done}, Call: end + 1, Return: end + 1})
}

// resolve completes requests without a response whose written value was read later.
func resolve(history []porcupine.Operation) {
	seen := map[string]object{}
	for _, operation := range history {
		out := operation.Output.(output)
		for _, o := range append(out.objects[:], out.object) {
			seen[o.value] = o
		}
	}
	for i := range history {
		in, out := history[i].Input.(input), history[i].Output.(output)
		if written, ok := seen[in.value]; out.outcome == unknown && in.value != "" && ok {
			history[i].Output = output{outcome: done, object: written}
		}
	}
}

// chain sets the preceding write of each write and list.
func chain(history []porcupine.Operation) {
	revisions := []int64{0}
	for _, operation := range history {
		if isWrite(operation) {
			revisions = append(revisions, operation.Output.(output).object.revision)
		}
	}
	slices.Sort(revisions)
	for i := range history {
		out := history[i].Output.(output)
		upTo := out.revision
		if isWrite(history[i]) {
			upTo = out.object.revision - 1
		}
		if upTo > 0 {
			n, _ := slices.BinarySearch(revisions, upTo+1)
			out.after = revisions[n-1]
			history[i].Output = out
		}
	}
}

// isWrite reports whether an operation is a write with a known revision.
func isWrite(operation porcupine.Operation) bool {
	return operation.Input.(input).verb != verbGet && operation.Output.(output).object.revision > 0
}
