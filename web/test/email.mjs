// The tests that need a mail server.
import './email.test.mjs'
import { runTests } from './lib.mjs'

runTests()
