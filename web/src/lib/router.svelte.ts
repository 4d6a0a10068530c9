// The address of the page decides what it shows.
import { tick } from 'svelte'

export const route = $state({ path: location.pathname, search: location.search, turn: 0 })

async function arrive(): Promise<void> {
  route.path = location.pathname
  route.search = location.search
  route.turn++
  await tick()
}

export async function go(to: string): Promise<void> {
  history.pushState(null, '', to)
  await arrive()
  scrollTo(0, 0)
  document.getElementById('main')?.focus({ preventScroll: true })
}

/** Changes the address without a step in the history. */
export function rewrite(to: string): void {
  history.replaceState(history.state, '', to)
  route.search = location.search
}

addEventListener('popstate', () => {
  if (location.pathname + location.search !== route.path + route.search) void arrive() // not for a place on the same page
})

document.addEventListener('click', (e) => {
  const a = (e.target as Element).closest?.('a')
  if (!a || e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return
  if (a.origin !== location.origin || a.target || a.hasAttribute('download') || !(a.pathname === '/' || a.pathname.startsWith('/app/'))) return
  if (a.hash && a.pathname === location.pathname) return
  e.preventDefault()
  void go(a.pathname + a.search)
})
