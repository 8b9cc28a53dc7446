// diff returns the edits from a to b, lists of lines: [{ kind: ' ' | '-' | '+', text }]. It is the
// algorithm of Myers; its steps are limited, beyond them the rest is replaced as a whole.
export function diff(a, b, limit = 2000) {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (lines) => lines.map((text) => ({ kind: ' ', text }));
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end), limit),
    ...same(a.slice(a.length - end)),
  ];
}

function middle(a, b, limit) {
  const trace = [];
  let reach = new Map([[1, 0]]);
  for (let d = 0; d <= Math.min(a.length + b.length, limit); d++) {
    trace.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && reach.get(k - 1) < reach.get(k + 1));
      let x = down ? reach.get(k + 1) : reach.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return walk(a, b, trace, d);
    }
  }
  return [...a.map((text) => ({ kind: '-', text })), ...b.map((text) => ({ kind: '+', text }))];
}

// walk returns the edits of the path that ends after d steps.
function walk(a, b, trace, d) {
  const edits = [];
  let x = a.length;
  let y = b.length;
  for (; d >= 0; d--) {
    const reach = trace[d];
    const k = x - y;
    const down = k === -d || (k !== d && reach.get(k - 1) < reach.get(k + 1));
    const previous = down ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : reach.get(previous);
    const fromY = d === 0 ? 0 : fromX - previous;
    while (x > fromX && y > fromY && x > 0 && y > 0) edits.push({ kind: ' ', text: a[--x], skip: y-- });
    if (d === 0) break;
    if (down) edits.push({ kind: '+', text: b[--y] });
    else edits.push({ kind: '-', text: a[--x] });
  }
  return edits.reverse().map(({ kind, text }) => ({ kind, text }));
}

// hunks groups the edits with lines of context around them, as a unified diff does.
export function hunks(edits, context = 3) {
  const groups = [];
  let last = -Infinity;
  edits.forEach((edit, i) => {
    if (edit.kind === ' ') return;
    const from = Math.max(0, i - context);
    if (from > last) groups.push([from, i + context + 1]);
    else groups[groups.length - 1][1] = i + context + 1;
    last = i + context + 1;
  });
  return groups.map(([from, to]) => edits.slice(from, to));
}
