import { get, poll, request } from './api.js';
import { h, announce, field, problem } from './dom.js';
import { plural, time } from './format.js';
import { toLines } from './yaml.js';

const path = '/apis/miniapi.dev/v1alpha1/faults';
const offKey = 'miniapi-faults';

// examples are the faults that are offered as switches.
const examples = [
  ['lose-updates', { match: { verbs: ['update'], every: 3 }, effect: { conflict: { interveningWrite: true } } }],
  ['slow-requests', { match: {}, effect: { latency: { duration: '100ms', upTo: '500ms' } } }],
  ['unavailable', { match: { verbs: ['create', 'update', 'patch', 'delete'], probability: 0.1, seed: 1 }, effect: { status: { code: 503, retryAfterSeconds: 1 } } }],
  ['lost-answers', { match: { verbs: ['create', 'update'], every: 5 }, effect: { status: { code: 504, afterWrite: true } } }],
  ['short-watches', { match: { verbs: ['watch'] }, effect: { watch: { endAfter: 10 } } }],
];

// manifest returns a fault without the fields that the server sets.
function manifest({ metadata, spec }) {
  return { apiVersion: 'miniapi.dev/v1alpha1', kind: 'Fault', metadata: { name: metadata.name }, spec };
}

// Faults that were switched off in this tab are kept to switch them on again.
function storedOff() {
  try {
    return JSON.parse(sessionStorage.getItem(offKey)) ?? [];
  } catch {
    return [];
  }
}

const flow = (value) => (Array.isArray(value) ? value.map(flow).join(',')
  : value !== null && typeof value === 'object' ? Object.entries(value).map(([key, inner]) => key + (inner !== null && typeof inner === 'object' && !Object.keys(inner).length ? '' : '=' + flow(inner))).join(' ')
    : String(value));

// showFaults shows the faults of the server and switches them on and off.
export async function showFaults(main, route, { signal }) {
  const view = { off: storedOff(), on: [], signal, asked: 0, answered: 0 };
  view.count = h('output', { class: 'count' });
  view.errors = h('div'); // of the last refresh
  view.refused = h('div'); // the error of the last action, which stays until the next one
  view.body = h('tbody');
  const table = h('table', { class: 'plain faults' }, h('caption', { class: 'unseen' }, 'Faults'),
    h('thead', {}, h('tr', {}, ['On', 'Name', 'Requests', 'Effect', 'Matched', 'Injected', 'Last request', ''].map((name) => h('th', { scope: 'col', class: /ed$/.test(name) ? 'number' : '' }, name || h('span', { class: 'unseen' }, 'Actions'))))),
    view.body);
  main.replaceChildren(h('section', { class: 'content' },
    h('div', { class: 'bar' }, h('h1', {}, 'Faults'), h('span', { class: 'muted' }, 'injected into the requests that they select'), view.count),
    view.errors, view.refused, table, editor(view)));
  await poll(() => refresh(view), 1000, signal);
}

// refresh shows the faults of the server. An answer that comes after the answer to a later request
// is ignored: it may be from before a change.
async function refresh(view) {
  const turn = ++view.asked;
  try {
    const { items } = await get(path, { signal: view.signal });
    if (turn < view.answered) return;
    view.answered = turn;
    view.on = items;
    view.errors.replaceChildren();
  } catch (error) {
    if (!view.signal.aborted) view.errors.replaceChildren(problem(error));
    return;
  }
  draw(view);
}

function draw(view) {
  const names = new Set(view.on.map((fault) => fault.metadata.name));
  view.off = view.off.filter((fault) => !names.has(fault.metadata.name));
  sessionStorage.setItem(offKey, JSON.stringify(view.off));
  const known = new Set([...names, ...view.off.map((fault) => fault.metadata.name)]);
  const offered = examples.map(([name, spec]) => ({ metadata: { name }, spec })).filter((fault) => !known.has(fault.metadata.name));
  const rows = [...view.on.map((fault) => [fault, true]), ...[...view.off, ...offered].map((fault) => [fault, false])];
  rows.sort(([a], [b]) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const drawn = JSON.stringify([rows, view.off]);
  if (drawn === view.drawn) return; // the user may be pressing a button of a row
  view.drawn = drawn;
  const focused = document.activeElement?.id;
  view.body.replaceChildren(...rows.map(([fault, on]) => row(view, fault, on, view.off.includes(fault))));
  if (focused) document.getElementById(focused)?.focus();
  view.count.textContent = plural(view.on.length, 'fault') + ' on';
}

function row(view, fault, on, removable) {
  const { name } = fault.metadata;
  const status = fault.status ?? {};
  const button = (label, action) => h('button', {
    type: 'button', class: 'quiet', id: `${label}-${name}`, 'aria-label': label + ' ' + name, on: { click: action },
  }, label);
  const toggle = h('button', {
    type: 'button', role: 'switch', class: 'switch', id: 'switch-' + name, 'aria-checked': String(on), 'aria-label': name,
    on: { click: () => change(view, on ? () => switchOff(view, fault) : () => send(view, fault)) },
  });
  const remove = () => change(view, async () => {
    view.off = view.off.filter((other) => other !== fault);
    if (on) await request(path + '/' + encodeURIComponent(name), { method: 'DELETE', signal: view.signal });
  });
  return h('tr', { class: on ? '' : 'muted' },
    h('td', {}, toggle), h('td', {}, name), h('td', { class: 'code' }, flow(fault.spec.match ?? {}) || 'all'), h('td', { class: 'code' }, flow(fault.spec.effect)),
    h('td', { class: 'number' }, on ? status.matched ?? 0 : ''), h('td', { class: 'number' }, on ? status.injected ?? 0 : ''),
    h('td', {}, status.lastRequest ? h('span', { class: 'code' }, status.lastRequest, ' ') : '', status.lastTime ? h('span', { class: 'muted' }, time(status.lastTime)) : ''),
    h('td', { class: 'actions' }, button('Edit', () => view.edit(fault, on)), (on || removable) && button('Delete', remove)));
}

async function change(view, action) {
  try {
    await action();
    view.refused.replaceChildren();
    await refresh(view);
    announce(plural(view.on.length, 'fault') + ' on');
  } catch (error) {
    if (!view.signal.aborted) view.refused.replaceChildren(problem(error));
  }
}

async function switchOff(view, fault) {
  await request(path + '/' + encodeURIComponent(fault.metadata.name), { method: 'DELETE', signal: view.signal });
  view.off.push(manifest(fault));
}

async function send(view, fault) {
  await request(path, { method: 'POST', type: 'application/json', body: JSON.stringify(manifest(fault)), signal: view.signal });
}

// editor returns the form that creates or changes a fault as YAML.
function editor(view) {
  let editing = '';
  const title = h('h2', {}, 'New fault');
  const text = h('textarea', { name: 'fault', rows: 12, spellcheck: 'false', autocomplete: 'off', class: 'code' });
  const clear = () => {
    editing = '';
    title.textContent = 'New fault';
    text.value = toLines({ apiVersion: 'miniapi.dev/v1alpha1', kind: 'Fault', metadata: { generateName: 'fault-' }, spec: { match: { verbs: ['update'], resources: ['deployments'], count: 2 }, effect: { conflict: {} } } }).join('\n') + '\n';
  };
  view.edit = (fault, on) => {
    editing = on ? fault.metadata.name : '';
    title.textContent = on ? 'Change ' + editing : 'New fault';
    text.value = toLines(manifest(fault)).join('\n') + '\n';
    text.focus();
  };
  const save = () => change(view, async () => {
    const target = editing ? path + '/' + encodeURIComponent(editing) : path;
    await request(target, { method: editing ? 'PUT' : 'POST', type: 'application/yaml', body: text.value, signal: view.signal });
    clear();
  });
  clear();
  return h('form', { class: 'editor', on: { submit: (event) => { event.preventDefault(); save(); } } },
    title, field('YAML', text), h('div', { class: 'buttons' }, h('button', { class: 'primary' }, 'Save'), h('button', { type: 'button', on: { click: clear } }, 'Clear')));
}
