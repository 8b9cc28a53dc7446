import { get, query } from './api.js';
import { h, svg, problem } from './dom.js';
import { plural, product, time } from './format.js';
import { toLines, withoutManagedFields } from './yaml.js';
import { diff, hunks } from './diff.js';

const step = 64; // between two versions
const laneHeight = 34;
const laneLabel = 168;
const top = 34;

// writerOf returns the name of a writer: the field manager, the product of the user agent, or the
// user.
function writerOf(writer) {
  return writer ? writer.fieldManager || product(writer.userAgent) || writer.user || 'the server' : 'unknown';
}

// effectOf returns the effect of a version on the life of the object, '' for an ordinary update.
function effectOf(version) {
  if (version.event !== 'Updated') return version.event.toLowerCase();
  const fields = version.fields ?? [];
  if (fields.some((field) => field.startsWith('.metadata.deletionTimestamp'))) return 'terminating';
  if (fields.some((field) => field.startsWith('.metadata.finalizers'))) return 'finalizers';
  return '';
}

const effects = {
  created: 'creates the object', deleted: 'deletes the object', terminating: 'begins the deletion', finalizers: 'changes finalizers',
};

// showTimeline shows the versions of an object along the axis of revisions, a lane for each writer,
// the conflicts, and the difference of two versions.
export async function showTimeline(panel, object, { signal }) {
  const [history, conflicts] = await Promise.all([
    get(object.path + '/history', { signal }), conflictsOf(object, signal),
  ]);
  const state = { object, signal, versions: history.versions ?? [], conflicts, from: '', to: '' };
  const readable = state.versions.filter((version) => version.event !== 'Deleted');
  state.to = readable.at(-1)?.resourceVersion ?? '';
  state.from = readable.at(-2)?.resourceVersion ?? state.to;
  const refresh = h('button', { type: 'button', class: 'quiet', on: { click: () => showTimeline(panel, object, { signal }) } }, 'Refresh');
  const omitted = history.omitted ? plural(history.omitted, 'earlier version') + ' omitted. ' : '';
  state.chart = h('div', { class: 'chart', tabindex: 0, role: 'region', 'aria-label': 'Timeline' });
  state.table = h('div', { class: 'versions' });
  state.diff = h('div', { class: 'diff', 'aria-live': 'polite' });
  panel.replaceChildren(
    h('p', { class: 'muted state' }, plural(state.versions.length, 'version') + ', ' + plural(conflicts.length, 'conflict') + '. ' + omitted +
      'The oldest revision that can be read is ' + history.oldestResourceVersion + '. ', refresh),
    state.chart, legend(), h('div', { class: 'split' }, state.table, state.diff));
  draw(state);
  state.chart.scrollLeft = state.chart.scrollWidth;
  await showDiff(state);
}

async function conflictsOf({ kind, namespace, name }, signal) {
  const selector = ['object.resource=' + kind.resource + (kind.group ? '.' + kind.group : ''), 'object.name=' + name];
  if (namespace) selector.push('object.namespace=' + namespace);
  try {
    return (await get('/apis/miniapi.dev/v1alpha1/conflicts' + query({ fieldSelector: selector.join(',') }), { signal })).items;
  } catch (error) {
    if (signal.aborted) throw error;
    return []; // without the right to list conflicts
  }
}

function draw(state) {
  state.chart.replaceChildren(chart(state));
  state.table.replaceChildren(versionTable(state));
}

async function select(state, name, version) {
  state[name] = version;
  draw(state);
  state.table.querySelector(`input[name=${name}]:checked`)?.focus();
  await showDiff(state);
}

function chart(state) {
  const { versions, conflicts } = state;
  const lanes = [...new Set([...versions.map((v) => writerOf(v.writer)), ...conflicts.map((c) => writerOf(c.loser))])];
  const x = (i) => laneLabel + step * (i + 0.5);
  const y = (writer) => top + laneHeight * (lanes.indexOf(writer) + 0.5);
  const width = laneLabel + step * (versions.length + 0.7);
  const height = top + laneHeight * lanes.length + 8;
  const drawing = svg('svg', {
    width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
    'aria-label': `${plural(versions.length, 'version')} by ${plural(lanes.length, 'writer')} and ${plural(conflicts.length, 'conflict')}. The table below has the same content.`,
  });
  for (const [from, to] of lives(versions)) {
    drawing.append(svg('rect', { class: 'life', x: x(from) - 12, y: top - 2, width: x(to) - x(from) + 24, height: laneHeight * lanes.length + 4, rx: 8 }));
  }
  for (const writer of lanes) {
    const label = writer.length > 22 ? writer.slice(0, 21) + '…' : writer;
    drawing.append(svg('line', { class: 'lane', x1: laneLabel, x2: width, y1: y(writer), y2: y(writer) }),
      svg('text', { class: 'label', x: 4, y: y(writer) + 4 }, label, svg('title', {}, writer)));
  }
  versions.forEach((version, i) => drawing.append(mark(state, version, x(i), y(writerOf(version.writer)))));
  conflicts.forEach((conflict) => drawing.append(...conflictMarks(conflict, versions, x, y)));
  return drawing;
}

// lives returns the ranges of versions between a creation and the deletion.
function lives(versions) {
  const ranges = [];
  let from = 0;
  versions.forEach((version, i) => {
    if (version.event === 'Created') from = i;
    if (version.event === 'Deleted' || i === versions.length - 1) ranges.push([from, i]);
    if (version.event === 'Deleted') from = i + 1;
  });
  return ranges;
}

function mark(state, version, x, y) {
  const effect = effectOf(version);
  const chosen = ['from', 'to'].filter((name) => state[name] === version.resourceVersion);
  const shape = effect === 'deleted'
    ? svg('path', { class: 'shape', d: 'M-5,-5L5,5M-5,5L5,-5' })
    : effect === 'finalizers' || effect === 'terminating' ? svg('rect', { class: 'shape', x: -5, y: -5, width: 10, height: 10, transform: 'rotate(45)' })
      : svg('circle', { class: 'shape', r: 6 });
  const text = `${version.resourceVersion}: ${writerOf(version.writer)} ${effects[effect] ?? version.writer?.verb ?? 'update'} ${(version.fields ?? []).slice(0, 8).join(' ')}`;
  const group = svg('g', { class: ['mark', effect, ...chosen].join(' '), transform: `translate(${x},${y})` },
    svg('title', {}, text), svg('circle', { class: 'halo', r: 11 }), shape);
  group.append(svg('text', { class: 'revision', y: top - 14 - y, 'text-anchor': 'middle' }, version.resourceVersion));
  if (effect !== 'deleted') {
    group.addEventListener('click', (event) => select(state, event.shiftKey ? 'from' : 'to', version.resourceVersion));
  }
  return group;
}

// conflictMarks returns the mark of a conflict in the lane of the loser, right of the version that
// it has struck, and a line to the winner.
function conflictMarks(conflict, versions, x, y) {
  let i = versions.findLastIndex((version) => Number(version.resourceVersion) <= conflict.current);
  if (i < 0) i = 0;
  const at = { x: x(i) + step * 0.36, y: y(writerOf(conflict.loser)) };
  const winner = versions.findIndex((version) => Number(version.resourceVersion) === conflict.winner?.revision);
  const marks = [];
  if (winner >= 0) {
    marks.push(svg('line', { class: 'clash', x1: at.x, y1: at.y, x2: x(winner), y2: y(writerOf(versions[winner].writer)) }));
  }
  marks.push(svg('g', { class: 'conflict', transform: `translate(${at.x},${at.y})` },
    svg('title', {}, conflict.explanation), svg('path', { d: 'M0,-7L7,6L-7,6Z' })));
  return marks;
}

function legend() {
  const entry = (kind, shape, text) => h('li', {}, svg('svg', { width: 18, height: 18, viewBox: '-9 -9 18 18', 'aria-hidden': 'true' }, svg('g', { class: 'mark ' + kind }, shape)), text);
  const circle = () => svg('circle', { class: 'shape', r: 6 });
  return h('ul', { class: 'legend' },
    entry('created', circle(), 'created'), entry('', circle(), 'updated'),
    entry('finalizers', svg('rect', { class: 'shape', x: -5, y: -5, width: 10, height: 10, transform: 'rotate(45)' }), 'finalizers or deletion begun'),
    entry('deleted', svg('path', { class: 'shape', d: 'M-5,-5L5,5M-5,5L5,-5' }), 'deleted'),
    h('li', {}, svg('svg', { width: 18, height: 18, viewBox: '-9 -9 18 18', 'aria-hidden': 'true' }, svg('g', { class: 'conflict' }, svg('path', { d: 'M0,-7L7,6L-7,6Z' }))), 'conflict'),
    h('li', { class: 'muted' }, 'Click compares a version, Shift and click sets the older one.'));
}

// versionTable returns the same content as a table, with the choice of the versions to compare.
function versionTable(state) {
  const entries = [
    ...state.versions.map((version) => ({ version, revision: Number(version.resourceVersion) })),
    ...state.conflicts.map((conflict) => ({ conflict, revision: conflict.current + 0.5 })),
  ].sort((a, b) => b.revision - a.revision);
  const choice = (name, label, version) => h('td', { class: 'choice' }, h('input', {
    type: 'radio', name, value: version.resourceVersion, checked: state[name] === version.resourceVersion,
    disabled: version.event === 'Deleted', 'aria-label': `${label} ${version.resourceVersion}`,
    on: { change: () => select(state, name, version.resourceVersion) },
  }));
  const row = ({ version, conflict }) => (conflict
    ? h('tr', { class: 'bad' }, h('td', {}), h('td', {}), h('td', { class: 'number' }, conflict.current), h('td', {}, 'Conflict'), h('td', {}, writerOf(conflict.loser)),
      h('td', {}, time(conflict.metadata.creationTimestamp).replace('.000', '')), h('td', {}, 'lost to ' + writerOf(conflict.winner) + (conflict.clashing?.length ? ': ' + conflict.clashing.join(' ') : '')))
    : h('tr', {}, choice('from', 'Compare from', version), choice('to', 'Compare to', version), h('td', { class: 'number' }, version.resourceVersion),
      h('td', {}, version.event), h('td', {}, writerOf(version.writer)), h('td', {}, time(version.writer?.time)), h('td', { class: 'fields' }, (version.fields ?? []).join(' '))));
  return h('table', { class: 'plain' }, h('caption', { class: 'unseen' }, 'Versions and conflicts, the latest first'),
    h('thead', {}, h('tr', {}, ['From', 'To', 'Revision', 'Event', 'Writer', 'Time', 'Fields'].map((name) => h('th', { scope: 'col', class: name === 'Revision' ? 'number' : '' }, name)))),
    h('tbody', {}, entries.map(row)));
}

async function showDiff(state) {
  const { from, to, object, signal, diff: area } = state;
  if (!to) return;
  const read = (version) => get(object.path + query({ resourceVersion: version, resourceVersionMatch: 'Exact' }), { signal });
  try {
    const [before, after] = (await Promise.all([read(from), read(to)])).map((o) => toLines(withoutManagedFields(o)));
    if (state.from !== from || state.to !== to) return; // another choice was made meanwhile
    const groups = hunks(diff(before, after));
    area.replaceChildren(h('h2', {}, `Revision ${from} to ${to}`),
      groups.length ? h('pre', { tabindex: 0, role: 'region', 'aria-label': 'Difference' }, groups.map((group, i) => [i > 0 && h('span', { class: 'gap' }, '⋯\n'), group.map(diffLine)])) : h('p', { class: 'empty' }, 'No difference.'));
  } catch (error) {
    if (!signal.aborted) area.replaceChildren(problem(error));
  }
}

function diffLine({ kind, text }) {
  return h({ '+': 'ins', '-': 'del', ' ': 'span' }[kind], {}, kind + ' ' + text + '\n');
}
