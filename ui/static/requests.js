import { get, poll } from './api.js';
import { h, svg, problem } from './dom.js';
import { Table } from './table.js';
import { duration, number, product, time } from './format.js';

const samples = 120;

// showRequests shows the requests by client, verb and resource.
export async function showRequests(main, route, { signal }) {
  const tiles = h('dl', { class: 'tiles' });
  const graph = h('div', { class: 'graph' });
  const errors = h('div');
  const detail = h('section', { class: 'detail', 'aria-label': 'Requests of a client', 'aria-live': 'polite' });
  const own = h('input', { type: 'checkbox', name: 'own' });
  const rate = (r) => (r.lastTenSeconds / 10).toFixed(1);
  const latency = (name, key) => ({ name, numeric: true, value: (r) => duration(r.microseconds[key]), order: (r) => r.microseconds[key] });
  const table = new Table({
    label: 'Requests', empty: 'No requests.',
    columns: [
      { name: 'Client', value: (r) => product(r.userAgent) || 'unknown' },
      { name: 'Verb', value: (r) => r.verb },
      { name: 'Resource', value: (r) => r.resource },
      { name: 'Rate /s', numeric: true, value: rate, description: 'In the last ten seconds' },
      { name: 'Count', numeric: true, value: (r) => number(r.count), order: (r) => r.count },
      { name: 'Conflicts', numeric: true, value: (r) => r.conflicts, mark: (r) => (r.conflicts ? 'warn' : '') },
      { name: 'Errors', numeric: true, value: (r) => r.errors, mark: (r) => (r.errors ? 'bad' : '') },
      latency('P50', 'p50'), latency('P99', 'p99'), latency('Max', 'max'),
    ],
    open: (request) => show(detail, request),
  });
  table.sort = { column: 'Count', descending: true };
  main.replaceChildren(h('section', { class: 'content' },
    h('div', { class: 'bar' }, h('h1', {}, 'Requests'), h('label', { class: 'check' }, own, 'Requests of this page')),
    h('div', { class: 'summary' }, tiles, graph), errors, table.element, detail));
  const rates = [];
  const update = async () => {
    try {
      const list = (await get('/apis/miniapi.dev/v1alpha1/requests', { signal })).items;
      const items = own.checked ? list : list.filter((r) => r.userAgent !== navigator.userAgent);
      for (const item of items) item.key = item.metadata.name;
      table.update(items);
      const sum = (value) => items.reduce((total, item) => total + value(item), 0);
      const slowest = items.reduce((max, item) => (max && max.microseconds.max >= item.microseconds.max ? max : item), null);
      rates.push(sum((r) => r.lastTenSeconds) / 10);
      if (rates.length > samples) rates.shift();
      tiles.replaceChildren(...Object.entries({
        'Requests per second': rates.at(-1).toFixed(1), Requests: number(sum((r) => r.count)), Conflicts: number(sum((r) => r.conflicts)),
        Errors: number(sum((r) => r.errors)), Slowest: slowest ? duration(slowest.microseconds.max) : '',
      }).map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));
      graph.replaceChildren(sparkline(rates));
      errors.replaceChildren();
    } catch (error) {
      if (!signal.aborted) errors.replaceChildren(problem(error));
    }
  };
  own.addEventListener('change', () => { rates.length = 0; update(); });
  await poll(update, 1000, signal);
}

// sparkline returns the rates of the last two minutes.
function sparkline(rates) {
  const width = 360;
  const height = 56;
  const highest = Math.max(1, ...rates);
  const points = rates.map((rate, i) => [width - (rates.length - 1 - i) * (width / (samples - 1)), height - 2 - (rate / highest) * (height - 8)]);
  const line = points.map(([x, y]) => x.toFixed(1) + ',' + y.toFixed(1)).join(' ');
  const area = `${points[0][0].toFixed(1)},${height} ${line} ${width},${height}`;
  return svg('svg', { viewBox: `0 0 ${width} ${height}`, class: 'sparkline', role: 'img', 'aria-label': `Requests per second in the last two minutes, at most ${highest.toFixed(1)}` },
    svg('polygon', { points: area }), svg('polyline', { points: line }));
}

function show(detail, request) {
  const example = (label, one) => (one?.time ? h('div', {}, h('h3', {}, label),
    h('p', {}, h('span', { class: 'code' }, `${one.method} ${one.uri}`)),
    h('p', { class: 'muted' }, [`${one.code || 'no answer'} ${one.reason ?? ''}`.trim(), duration(one.microseconds ?? 0), time(one.time), 'Audit-Id ' + one.requestID].join(' · '))) : null);
  detail.replaceChildren(h('h2', {}, [product(request.userAgent), request.verb, request.resource].join(' ')),
    h('p', { class: 'muted' }, request.userAgent), ...[example('Slowest request', request.slowest), example('Last error', request.lastError)].filter(Boolean));
  detail.scrollIntoView({ block: 'nearest' });
}
