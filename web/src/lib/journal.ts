// Signed payments whose outcome is not known yet. They are written before they are
// sent, so that a reload or a lost connection repeats the same payment, which is
// never charged twice. While the page is being left, nothing is removed: this
// document can no longer show the outcome, so the next one has to ask again.
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

let leaving = false
addEventListener('beforeunload', () => (leaving = true))
addEventListener('pageshow', () => (leaving = false))

const name = (key: string) => 'deed.payment.' + key

export const journal = {
  write: (e: Entry) => localStorage.setItem(name(e.key), JSON.stringify(e)),
  remove(key: string): void {
    if (!leaving) localStorage.removeItem(name(key))
  },
  read(key: string): Entry | null {
    try {
      return JSON.parse(localStorage.getItem(name(key)) ?? 'null')
    } catch {
      return null
    }
  },
}
