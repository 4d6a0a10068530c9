// The tests of `make test`, in one process with one browser.
import './buy.test.mjs'
import './states.test.mjs'
import './faults.test.mjs'
import './session.test.mjs'
import './plain.test.mjs'
import './name.test.mjs'
import { runTests } from './lib.mjs'

runTests()
