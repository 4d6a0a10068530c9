// The records of a name and the changes that wait to be paid.
import { config } from './config'
import { session } from './session.svelte'
import type { DNSRecord, RecordInput } from './types'

export interface Change {
  op: 'add' | 'update' | 'delete'
  id: string // of the record; of an added one until it has its own
  record?: RecordInput
}

export const pricePerChange = 100_000n // millionths: interface document, 4, rule 1

export class Zone {
  records = $state.raw<DNSRecord[] | null>(null)
  revision = $state(0)
  changes = $state.raw<Change[]>([])
  private key: string

  constructor(readonly domain: string) {
    this.key = 'deed.changes.' + domain
    try {
      this.changes = JSON.parse(sessionStorage.getItem(this.key) ?? '[]')
    } catch {
      // Changes that are not signed yet are a draft.
    }
  }

  async load(): Promise<void> {
    const { body } = await session.call<{ records: DNSRecord[]; revision: number }>('GET', '/dns/' + this.domain)
    this.records = body.records
    this.revision = body.revision
    const known = new Set(body.records.map((r) => r.id))
    this.set(this.changes.filter((c) => c.op === 'add' || known.has(c.id)))
  }

  set(list: Change[]): void {
    this.changes = list
    if (list.length) sessionStorage.setItem(this.key, JSON.stringify(list))
    else sessionStorage.removeItem(this.key)
  }

  add(record: RecordInput): void {
    this.set([...this.changes, { op: 'add', id: 'new' + Date.now() + this.changes.length, record }])
  }

  update(id: string, record: RecordInput): void {
    const added = this.changes.find((c) => c.id === id && c.op === 'add')
    const before = this.records?.find((r) => r.id === id)
    const rest = this.changes.filter((c) => c.id !== id)
    const same = before && before.host === record.host && before.value === record.value && before.ttl === record.ttl && (record.distance == null || before.distance === record.distance) // the form of an SRV has it in its value
    if (added) this.set(this.changes.map((c) => (c.id === id ? { ...c, record } : c)))
    else this.set(same ? rest : [...rest, { op: 'update', id, record }])
  }

  delete(id: string): void {
    const added = this.changes.some((c) => c.id === id && c.op === 'add')
    const rest = this.changes.filter((c) => c.id !== id)
    this.set(added ? rest : [...rest, { op: 'delete', id }])
  }

  undo(id: string): void {
    this.set(this.changes.filter((c) => c.id !== id))
  }

  /** The body of POST /dns/{domain}/batch. */
  batch(): unknown {
    return { changes: this.changes.map(toBody), ifRevision: this.revision }
  }

  /** Ends the changes that a batch has made. Others may have been collected since. */
  made(batch: any): void {
    const done = new Set(batch.changes.map((c: unknown) => JSON.stringify(c)))
    this.set(this.changes.filter((c) => !done.has(JSON.stringify(toBody(c)))))
  }
}

function toBody(c: Change): unknown {
  if (c.op === 'delete') return { op: 'delete', id: c.id }
  const { type, host, value, ttl, distance } = c.record!
  const fields = { host, value, ...(ttl ? { ttl } : {}), ...(distance != null ? { distance } : {}) }
  return c.op === 'add' ? { op: 'add', type, ...fields } : { op: 'update', id: c.id, ...fields }
}

export const types = ['A', 'AAAA', 'CNAME', 'ALIAS', 'MX', 'TXT', 'NS', 'SRV', 'CAA', 'HTTPS', 'SVCB', 'TLSA', 'SSHFP', 'PTR', 'DS', 'NAPTR', 'LOC', 'URI', 'OPENPGPKEY', 'SMIMEA', 'DNAME', ...(config.forwarding ? ['FORWARD'] : [])]

/** What a type does, where its name does not say it. */
export const hints: Record<string, string> = {
  ALIAS: 'Serves the addresses of another host, also at @, where a CNAME is not possible.',
  FORWARD: 'Redirects visitors of this host to this address. Begin with 301 for a permanent redirect.',
  MX: 'Receives the mail. The smallest priority is tried first.',
  CAA: 'Says which authorities may issue certificates.',
}

export const examples: Record<string, string> = {
  A: '192.0.2.10', AAAA: '2001:db8::10', CNAME: 'host.example.com', MX: 'mail.example.com', TXT: 'any text', NS: 'ns1.example.com',
  SRV: '10 5 443 host.example.com', CAA: '0 issue "letsencrypt.org"', HTTPS: '1 . alpn=h2', SVCB: '1 host.example.com', TLSA: '3 1 1 …',
  SSHFP: '4 2 …', PTR: 'host.example.com', DS: '12345 13 2 …', NAPTR: '10 10 "u" "" "" .',
  LOC: '52 31 0 N 13 24 0 E 34m', URI: '10 1 "https://example.com/"', OPENPGPKEY: 'base64 …', SMIMEA: '3 0 1 …', DNAME: 'example.net',
  ALIAS: 'host.example.net', FORWARD: 'https://example.net/',
}
