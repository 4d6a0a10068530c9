// Whether the service can be reached. What the browser says (navigator.onLine) is only
// a reason to ask: it is also offline on a machine without a network, on which the
// service itself may run.
import { call, LostError } from './api'

export const service = $state({ lost: false })

const probeInterval = 5000
let timer: ReturnType<typeof setTimeout> | undefined

async function probe(): Promise<void> {
  clearTimeout(timer)
  service.lost = await call('GET', '/livez').then(() => false, (e) => e instanceof LostError)
  if (service.lost) timer = setTimeout(probe, probeInterval)
}

addEventListener('online', probe)
addEventListener('offline', probe)
if (!navigator.onLine) void probe()
