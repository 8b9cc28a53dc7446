package e2e_test

import (
	"slices"

	"github.com/anishathalye/porcupine"
)

// closed returns a history as the checker needs it, with its end.
func closed(history []porcupine.Operation) []porcupine.Operation {
	end := int64(0)
	for _, operation := range history {
		end = max(end, operation.Return)
	}
	for i := range history {
		// When, and if, a request was done that nobody waited for is not known.
		if history[i].Output.(output).outcome == unknown {
			history[i].Return = end + 2
		}
	}
	settle(history)
	chain(history)
	return append(history, porcupine.Operation{Input: input{verb: verbEnd}, Output: output{outcome: done}, Call: end + 1, Return: end + 1})
}

// settle tells what is known of the requests whose answers nobody waited for:
// what somebody has read was written.
func settle(history []porcupine.Operation) {
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

// chain tells each write and each list which write was before it.
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

// isWrite is true for a write whose revision is known.
func isWrite(operation porcupine.Operation) bool {
	return operation.Input.(input).verb != verbGet && operation.Output.(output).object.revision > 0
}
