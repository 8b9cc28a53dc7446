// A serializer of JSON values as YAML 1.2, in the style of kubectl: keys in order, sequences at the
// indentation of their key, block scalars for texts with several lines.

// plain matches strings that YAML readers of version 1.1 and 1.2 take as strings without quotes.
const plain = /^[\w/.$][\w/.$()+=@;^~%-]*(?:[ ][\w/.$()+=@;^~%-]+)*$/;
const reserved = /^(?:y|n|yes|no|on|off|true|false|null|~|\.inf|\.nan|[-+]?\.\d.*|0[xob].*|\.)$/i;
const numeric = /^[-+.]?[\d_.][\d_.eE+-]*$/;

function isPlain(text) {
  return plain.test(text) && !reserved.test(text) && !numeric.test(text);
}

// quoted returns a double-quoted scalar. JSON escapes are a subset of those of YAML; line breaks
// of Unicode and control characters, which YAML does not permit, are escaped too.
function quoted(text) {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0'));
}

// isBlock reports whether a block scalar can represent a text: several lines, printable, and
// neither tabs at the beginning of lines nor spaces at their ends, which would be hard to see.
function isBlock(text) {
  return text.includes('\n') && !/^[\s]|[^\n\t\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]|[\u2028\u2029]|[ \t]\n|^\n/.test(text) &&
    text.trim() !== '' && !/[ \t]$/.test(text);
}

function block(text, indent) {
  const stripped = text.replace(/\n+$/, '');
  const ends = text.length - stripped.length;
  const indicator = ends === 0 ? '|-' : ends === 1 ? '|' : '|+';
  const lines = (ends > 1 ? text.slice(0, -1) : stripped).split('\n');
  return [indicator, ...lines.map((line) => (line === '' ? '' : indent + line))];
}

// scalar returns the lines of a value that is not a mapping or sequence with elements. The first
// one continues the line of its key.
function scalar(value, indent) {
  if (value === null || value === undefined) return ['null'];
  if (Array.isArray(value)) return ['[]'];
  if (typeof value === 'object') return ['{}'];
  if (typeof value !== 'string') return [String(value)];
  if (isBlock(value)) return block(value, indent);
  return [isPlain(value) ? value : quoted(value)];
}

function isCollection(value) {
  return value !== null && typeof value === 'object' && Object.keys(value).length > 0;
}

function* lines(value, indent) {
  if (Array.isArray(value)) {
    for (const item of value) {
      if (!isCollection(item)) {
        const [first, ...more] = scalar(item, indent + '  ');
        yield indent + '- ' + first;
        yield* more;
        continue;
      }
      let lead = indent + '- ';
      for (const line of lines(item, indent + '  ')) {
        yield lead === '' ? line : lead + line.slice(lead.length);
        lead = '';
      }
    }
    return;
  }
  for (const key of Object.keys(value).sort()) {
    const name = indent + (isPlain(key) ? key : quoted(key)) + ':';
    if (!isCollection(value[key])) {
      const [first, ...more] = scalar(value[key], indent + '  ');
      yield name + ' ' + first;
      yield* more;
    } else {
      yield name;
      yield* lines(value[key], Array.isArray(value[key]) ? indent : indent + '  ');
    }
  }
}

// toLines returns the lines of a value as YAML.
export function toLines(value) {
  return isCollection(value) ? [...lines(value, '')] : scalar(value, '  ');
}

// withoutManagedFields returns a copy of an object without metadata.managedFields.
export function withoutManagedFields(object) {
  const { managedFields, ...metadata } = object.metadata ?? {};
  return { ...object, metadata };
}

// foldRange returns the first line of metadata.managedFields and the line after the last one, null
// if there are none.
export function foldRange(text) {
  const metadata = text.indexOf('metadata:');
  const first = metadata < 0 ? -1 : text.indexOf('  managedFields:', metadata);
  if (first < 0) return null;
  let end = first + 1;
  while (end < text.length && /^ {2}(?:- | {2})/.test(text[end])) end++;
  return [first, end];
}
