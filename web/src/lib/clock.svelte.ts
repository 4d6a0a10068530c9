// The clock of the registry. In a sandbox it can be moved.
import { serverNow } from './api'

export const clock = $state({ ahead: 0 }) // of the server's clock, in ms

export const registryNow = () => serverNow() + clock.ahead
