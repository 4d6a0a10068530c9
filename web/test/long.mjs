// The tests of `make long`.
import './slow.test.mjs'
import './contract.test.mjs'
import './tabs.test.mjs'
import './settings.test.mjs'
import './keyboard.test.mjs'
import './webhooks.test.mjs'
import './views.test.mjs'
import './figures.test.mjs'
import './expiry.test.mjs'
import './terminal.test.mjs'
import './terminalends.test.mjs'
import './renewal.test.mjs'
import './email.test.mjs'
import { runTests } from './lib.mjs'

runTests()
