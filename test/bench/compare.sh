#!/usr/bin/env bash
# Compares the benchmarks of this worktree with those of another revision.
#
#   test/bench/compare.sh REF BENCHSTAT [go test arguments]
#
# Both revisions run in turns, so that changes in the load of the machine affect both alike. COUNT
# sets the number of rounds (default 6).
set -euo pipefail

ref=$1 benchstat=$2
shift 2
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
temp=$(mktemp -d)
trap 'git -C "$root" worktree remove --force "$temp/base" 2>/dev/null || true; rm -rf "$temp"' EXIT

git -C "$root" worktree add --quiet --detach "$temp/base" "$ref"
if [ ! -d "$temp/base/test/bench" ]; then
	echo "compare: $ref has no benchmarks in test/bench" >&2
	exit 1
fi
go -C "$temp/base" test -c -o "$temp/base.test" ./test/bench
go -C "$root" test -c -o "$temp/head.test" ./test/bench
for ((round = 1; round <= ${COUNT:-6}; round++)); do
	echo "round $round of ${COUNT:-6}" >&2
	(cd "$temp/base/test/bench" && "$temp/base.test" -test.run '^$' -test.bench . "$@") >>"$temp/base.txt"
	(cd "$root/test/bench" && "$temp/head.test" -test.run '^$' -test.bench . "$@") >>"$temp/head.txt"
done
(cd "$temp" && "$root/$benchstat" "$ref=base.txt" worktree=head.txt)
