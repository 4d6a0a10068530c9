// Bodies of the API, as far as the page reads them.
export interface Found {
  domain: string
  tld: string
  available: boolean
  premium?: boolean
  priceUsd?: string
  renewalPriceUsd?: string
  minYears?: number
  reason?: 'taken' | 'reserved' | 'invalid' | 'unknown'
}

export interface Price {
  tld: string
  registration_price_usd: string
  renewal_price_usd: string
  minYears: number
  maxYears: number
}

export interface Payment {
  amountUsd: string
  txHash: string | null
  network: string
  payer: string
  settled: boolean
}

export interface Refund {
  status: 'due' | 'sent' | 'confirmed'
  amount_usd: string
  txHash: string | null
}

export interface Job {
  jobId: string
  type: string
  status: 'pending' | 'processing' | 'completed' | 'failed'
  completed: boolean
  domain: string
  years: number
  walletAddress: string
  payment: Payment
  refund?: Refund
  steps: { name: string; at: string }[]
  createdAt: string
  updatedAt: string
  deadlineAt: string
  poll_interval_ms: number
  message?: string
  result: { expiresAt: string; price_usd: string; warnings: string[] } | null
}

export interface Domain {
  domain: string
  tld: string
  status: string
  registeredAt: string
  expiresAt: string
  locked: boolean
  autoRenew: boolean
  renewal_price_usd?: string // of a year; none when the TLD is no longer sold
  nameservers: string[]
  walletAddress: string
  dnssec: { enabled: boolean; ds: { keyTag: number; algorithm: number; digestType: number; digest: string }[]; keyRoll?: { step: string; effectiveAt?: string } }
  grace?: { phase: string; endsAt: string; price_usd?: string }
  delegation?: { state: 'withdrawing' | 'settling'; nameservers: string[]; effectiveAt: string }
  glue?: { host: string; addresses: string[] }[]
  warnings: string[]
}

export interface Cancellation {
  status: 'possible' | 'cancelling' | 'cancelled'
  price_usd: string
  kept_usd: string
  refund_usd: string
  walletAddress: string
}

export interface AccountDomain {
  domain: string
  status: string
  expiresAt: string
  locked: boolean
  renewal_price_usd: string
}

export interface RecordInput {
  type: string
  host: string
  value: string
  ttl?: number
  distance?: number | null
}

export interface DNSRecord extends RecordInput {
  id: string
  ttl: number
  distance: number | null
}

export interface Difference {
  op: 'add' | 'update' | 'delete'
  before?: DNSRecord
  after?: DNSRecord
}

export interface ZoneChanged {
  revision: number
  changes: Difference[]
  count: number
  price_usd: string
}

export interface Revision {
  revision: number
  at: string
  added: number
  deleted: number
  records: number
}

export interface Propagation {
  serial: number
  servers: { server: string; serial: number; inSync: boolean; lagSeconds: number; error?: string }[]
}

export interface Transaction {
  transactionId: string
  type: string
  domain: string
  status: string
  price_usd: string
  network: string
  txHash: string | null
  payer: string
  jobId?: string
  createdAt: string
}

export interface Account {
  walletAddress: string
  created_at: string
  total_spent_usd: string
  refunded_usd: string
  domains_registered: number
  active_domains: number
  expiring_soon: number
}
