// The tests of `make long`.
import './slow.test.mjs'
import './settings.test.mjs'
import './keyboard.test.mjs'
import './views.test.mjs'
import './expiry.test.mjs'
import { runTests } from './lib.mjs'

runTests()
