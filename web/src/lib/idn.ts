// Names with letters beyond ASCII. The service writes them as A-labels (xn--…), and
// people read them in Unicode.

/** The name as A-labels, as browsers and the service convert it. What cannot be converted is returned as it is. */
export function toASCII(name: string): string {
  if (!/[^\x00-\x7f]/.test(name) || /[/:@?#\\]/.test(name)) return name
  try {
    return new URL('http://' + name).hostname
  } catch {
    return name
  }
}

/** The name in Unicode. A label that does not become the same A-label again stays as it is. */
export function toUnicode(name: string): string {
  const shown = name.split('.').map((label) => (label.startsWith('xn--') ? decode(label.slice(4)) : label)).join('.')
  return toASCII(shown) === name ? shown : name
}

/** Both forms in one text, for names that have two. */
export function bothForms(name: string): string {
  const shown = toUnicode(name)
  return shown === name ? name : `${shown} (${name})`
}

/** Decodes Punycode (RFC 3492, 6.2); browsers have no call for it. */
function decode(text: string): string {
  const end = text.lastIndexOf('-')
  const out = end > 0 ? [...text.slice(0, end)] : []
  let code = 128
  let index = 0
  let bias = 72
  for (let at = end + 1; at < text.length; ) {
    const before = index
    for (let weight = 1, k = 36; ; k += 36) {
      const digit = 'abcdefghijklmnopqrstuvwxyz0123456789'.indexOf(text[at++] ?? '')
      if (digit < 0 || at > text.length) return ''
      index += digit * weight
      const threshold = Math.min(26, Math.max(1, k - bias))
      if (digit < threshold) break
      weight *= 36 - threshold
    }
    const count = out.length + 1
    bias = adapt(index - before, count, before === 0)
    code += Math.floor(index / count)
    index %= count
    if (code > 0x10ffff) return ''
    out.splice(index++, 0, String.fromCodePoint(code))
  }
  return out.join('')
}

/** Adapts the bias of the next number (RFC 3492, 6.1). */
function adapt(delta: number, count: number, first: boolean): number {
  let rest = Math.floor(delta / (first ? 700 : 2))
  rest += Math.floor(rest / count)
  let k = 0
  for (; rest > 455; k += 36) rest = Math.floor(rest / 35)
  return k + Math.floor((36 * rest) / (rest + 38))
}
