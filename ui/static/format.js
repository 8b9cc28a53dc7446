const units = [[365 * 86400, 'y'], [86400, 'd'], [3600, 'h'], [60, 'm'], [1, 's']];

// age returns the time since a date in at most two units, as kubectl prints it.
export function age(since, now = Date.now()) {
  let seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  if (Number.isNaN(seconds)) return '';
  if (seconds < 120) return seconds + 's';
  if (seconds < 600) return Math.floor(seconds / 60) + 'm' + (seconds % 60 ? (seconds % 60) + 's' : '');
  if (seconds < 3 * 3600) return Math.floor(seconds / 60) + 'm';
  for (const [length, name] of units) {
    if (seconds >= (length > 3600 ? 2 : 1) * length) return Math.floor(seconds / length) + name;
  }
  return seconds + 's';
}

// bytes returns a size with a binary unit.
export function bytes(n) {
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (n < 1024 || unit === 'GiB') return (unit === 'B' ? n : n.toFixed(1)) + ' ' + unit;
    n /= 1024;
  }
}

// duration returns microseconds as milliseconds or seconds.
export function duration(microseconds) {
  const ms = microseconds / 1000;
  if (ms >= 10000) return (ms / 1000).toFixed(1) + ' s';
  return (ms >= 100 ? ms.toFixed(0) : ms >= 10 ? ms.toFixed(1) : ms.toFixed(2)) + ' ms';
}

// number returns an integer with separators of thousands.
export function number(n) {
  return Number(n).toLocaleString('en').replaceAll(',', '\u202f');
}

// plural returns a count and a noun.
export function plural(n, noun, nouns = noun + 's') {
  return number(n) + ' ' + (n === 1 ? noun : nouns);
}

// time returns the local time of day with milliseconds, and the date if it is not today.
export function time(text) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return '';
  const clock = date.toLocaleTimeString('en-GB') + '.' + String(date.getMilliseconds()).padStart(3, '0');
  return date.toDateString() === new Date().toDateString() ? clock : date.toISOString().slice(0, 10) + ' ' + clock;
}

// product returns the product of a user agent, such as kubectl.
export function product(userAgent) {
  return (userAgent ?? '').split('/')[0];
}
