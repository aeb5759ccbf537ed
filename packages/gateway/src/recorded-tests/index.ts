/** The entry point of the package for tests from recorded requests, which porticoctl imports. */
export { loadTestedConfig, type TestedConfig } from '../config-tests/tested-config.ts'
export { type RecordedTests, recordTests } from './record-tests.ts'
