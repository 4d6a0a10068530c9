// Amounts, times and addresses for people, in the notation of their locale.
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { registryNow } from './clock.svelte'

const amount = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 6 })
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const minute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

/** A decimal amount of USDC as millionths. */
export function micros(text: string): bigint {
  const [whole = '0', part = ''] = text.split('.')
  return BigInt(whole) * 1_000_000n + BigInt((part + '000000').slice(0, 6))
}

/** Millionths as a decimal amount with two digits or more, as the API writes it. */
export function decimal(n: bigint): string {
  const part = (n % 1_000_000n).toString().padStart(6, '0').replace(/0{1,4}$/, '')
  return n / 1_000_000n + '.' + part
}

export const money = (text: string | bigint) => amount.format((typeof text === 'bigint' ? decimal(text) : text) as `${number}`) + ' USDC'
export const date = (text: string) => day.format(new Date(text))
export const time = (text: string | number) => minute.format(new Date(text))
export const timeOfDay = (ms: number) => clock.format(new Date(ms))
export const short = (address: string) => address.slice(0, 6) + '…' + address.slice(-4)
export const years = (n: number) => (n === 1 ? '1 year' : n + ' years')

/** The address with the letter case of EIP-55, which wallets want in messages. */
export function checksum(address: string): string {
  const low = address.toLowerCase().slice(2)
  const hash = bytesToHex(keccak_256(utf8ToBytes(low)))
  return '0x' + [...low].map((c, i) => (parseInt(hash[i] ?? '0', 16) >= 8 ? c.toUpperCase() : c)).join('')
}

export const fingerprint = (text: string) => bytesToHex(keccak_256(utf8ToBytes(text))).slice(0, 32)

const statuses: Record<string, [text: string, tone: string]> = {
  active: ['Active', ''],
  pending: ['Pending', 'warn'],
  expired: ['Expired', 'bad'],
  redemption: ['In redemption', 'bad'],
  pending_delete: ['Being deleted', 'bad'],
  transferring: ['Transfer pending', 'warn'],
  transferred: ['Transferred away', 'quiet'],
  suspended: ['Suspended', 'bad'],
}
export const status = (s: string) => statuses[s] ?? [s, 'quiet']

/** Days until a time; negative afterwards. */
export const daysUntil = (text: string) => Math.ceil((Date.parse(text) - registryNow()) / 86_400_000)

/** A message of the service as a sentence. */
export const sentence = (text: string) => (text ? text[0]!.toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? '' : '.') : '')
