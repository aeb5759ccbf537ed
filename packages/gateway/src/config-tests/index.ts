/** Tests of configs, for porticoctl. */
export { loadTests } from './load-tests.ts'
export { type RunResult, runTests, type TestFailure, type TestResult } from './run-tests.ts'
export type { Coverage } from './coverage.ts'
