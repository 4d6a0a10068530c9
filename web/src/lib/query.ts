// What people type into the search field.
import { toASCII } from './idn'

export interface Query {
  label: string // as the API wants it
  tld: string // "" when none was typed
}

/** Reads "Example", "example.io", "https://www.example.io/path" or "bücher". */
export function parseQuery(text: string): Query | string {
  let t = text.trim().toLowerCase().replace(/^[a-z]+:\/\//, '').replace(/[/?#].*$/, '').replace(/\s+/g, '').replace(/^\.+|\.+$/g, '')
  if (!t) return { label: '', tld: '' }
  t = toASCII(t)
  if (/[^\x00-\x7f]/.test(t)) return 'That cannot be a name.'
  const parts = t.split('.')
  if (parts.length > 2 && parts[0] === 'www') parts.shift()
  const label = parts[0] ?? ''
  if (!/^[a-z0-9-]+$/.test(label)) return 'Use letters, digits and hyphens.'
  if (label.length > 63) return 'A name has at most 63 characters.'
  if (label.startsWith('-') || label.endsWith('-')) return 'A name does not begin or end with a hyphen.'
  return { label, tld: parts.slice(1).join('.') }
}
