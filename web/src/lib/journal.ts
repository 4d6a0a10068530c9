// Signed payments whose outcome is not known yet. They are written before they are
// sent, so that a reload or a lost connection repeats the same payment, which is
// never charged twice.
export interface Entry {
  key: string
  method: string
  path: string
  json?: unknown
  text?: string
  auth: boolean
  payment: string
  price: string
  payer: string
  title: string
}

const name = (key: string) => 'deed.payment.' + key

export const journal = {
  write: (e: Entry) => localStorage.setItem(name(e.key), JSON.stringify(e)),
  remove: (key: string) => localStorage.removeItem(name(key)),
  read(key: string): Entry | null {
    try {
      return JSON.parse(localStorage.getItem(name(key)) ?? 'null')
    } catch {
      return null
    }
  },
}
