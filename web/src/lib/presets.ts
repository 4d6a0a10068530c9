// Records that a new name can start with.
import type { RecordInput } from './types'

export interface Preset {
  id: string
  group: 'Web' | 'Mail' | 'Identity'
  name: string
  fields: { id: string; label: string; example: string; pattern?: RegExp; wrong?: string; optional?: boolean }[]
  records(domain: string, v: Record<string, string>): RecordInput[]
}

const ipv4 = /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/
const host = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i

const a = (value: string): RecordInput => ({ type: 'A', host: '@', value })
const cname = (h: string, value: string): RecordInput => ({ type: 'CNAME', host: h, value })
const mx = (value: string, distance: number): RecordInput => ({ type: 'MX', host: '@', value, distance })
const txt = (h: string, value: string): RecordInput => ({ type: 'TXT', host: h, value })

const www = (label: string, example: string) => ({ id: 'target', label, example, pattern: host, wrong: 'A host name such as ' + example })

export const presets: Preset[] = [
  {
    id: 'server', group: 'Web', name: 'My own server',
    fields: [
      { id: 'ip', label: 'IPv4 address', example: '192.0.2.10', pattern: ipv4, wrong: 'An address such as 192.0.2.10' },
      { id: 'ip6', label: 'IPv6 address (optional)', example: '2001:db8::10', pattern: /^[0-9a-f:]+$/i, wrong: 'An address such as 2001:db8::10', optional: true },
    ],
    records: (domain, v) => [a(v.ip ?? ''), ...(v.ip6 ? [{ type: 'AAAA', host: '@', value: v.ip6 }] : []), cname('www', domain)],
  },
  {
    id: 'github', group: 'Web', name: 'GitHub Pages',
    fields: [www('Your site at GitHub', 'yourname.github.io')],
    records: (_, v) => [...['108', '109', '110', '111'].map((n) => a(`185.199.${n}.153`)), cname('www', v.target ?? '')],
  },
  { id: 'vercel', group: 'Web', name: 'Vercel', fields: [], records: () => [a('76.76.21.21'), cname('www', 'cname.vercel-dns.com')] },
  {
    id: 'netlify', group: 'Web', name: 'Netlify',
    fields: [www('Your site at Netlify', 'yoursite.netlify.app')],
    records: (_, v) => [a('75.2.60.5'), cname('www', v.target ?? '')],
  },
  { id: 'google', group: 'Mail', name: 'Google Workspace', fields: [], records: () => [mx('smtp.google.com', 1), txt('@', 'v=spf1 include:_spf.google.com ~all')] },
  {
    id: 'microsoft', group: 'Mail', name: 'Microsoft 365', fields: [],
    records: (domain) => [mx(domain.replace(/\./g, '-') + '.mail.protection.outlook.com', 0), txt('@', 'v=spf1 include:spf.protection.outlook.com -all'), cname('autodiscover', 'autodiscover.outlook.com')],
  },
  {
    id: 'fastmail', group: 'Mail', name: 'Fastmail', fields: [],
    records: (domain) => [
      mx('in1-smtp.messagingengine.com', 10), mx('in2-smtp.messagingengine.com', 20), txt('@', 'v=spf1 include:spf.messagingengine.com ?all'),
      ...[1, 2, 3].map((n) => cname(`fm${n}._domainkey`, `fm${n}.${domain}.dkim.fmhosted.com`)),
    ],
  },
  { id: 'proton', group: 'Mail', name: 'Proton Mail', fields: [], records: () => [mx('mail.protonmail.ch', 10), mx('mailsec.protonmail.ch', 20), txt('@', 'v=spf1 include:_spf.protonmail.ch ~all')] },
  { id: 'icloud', group: 'Mail', name: 'iCloud', fields: [], records: () => [mx('mx01.mail.icloud.com', 10), mx('mx02.mail.icloud.com', 10), txt('@', 'v=spf1 include:icloud.com ~all')] },
  { id: 'nomail', group: 'Mail', name: 'No mail (stops forgeries)', fields: [], records: () => [mx('.', 0), txt('@', 'v=spf1 -all'), txt('_dmarc', 'v=DMARC1; p=reject')] },
  {
    id: 'verify', group: 'Identity', name: 'Verification (TXT)',
    fields: [{ id: 'text', label: 'The text that you were given', example: 'google-site-verification=…' }],
    records: (_, v) => [txt('@', v.text ?? '')],
  },
  {
    id: 'bluesky', group: 'Identity', name: 'Bluesky handle',
    fields: [{ id: 'did', label: 'Your DID (Bluesky: change handle, I have my own domain)', example: 'did:plc:…', pattern: /^(did=)?did:(plc|web):[A-Za-z0-9.:%-]+$/, wrong: 'It begins with did:plc:' }],
    records: (_, v) => [txt('_atproto', 'did=' + (v.did ?? '').replace(/^did=/, ''))],
  },
  {
    id: 'ens', group: 'Identity', name: 'ENS name (gasless)',
    fields: [{ id: 'address', label: 'Address that the name stands for', example: '0x…', pattern: /^0x[0-9a-fA-F]{40}$/, wrong: 'An address: 0x and 40 hexadecimal digits' }],
    records: (_, v) => [txt('@', 'ENS1 dnsname.ens.eth ' + (v.address ?? ''))],
  },
]

/** What is wrong with the values of a preset, by field. */
export function check(p: Preset, v: Record<string, string>): Record<string, string> {
  const out: Record<string, string> = {}
  for (const f of p.fields) {
    const value = (v[f.id] ?? '').trim()
    if (!value) {
      if (!f.optional) out[f.id] = 'Please fill this in.'
    } else if (f.pattern && !f.pattern.test(value)) out[f.id] = f.wrong ?? 'This does not look right.'
  }
  return out
}
