/** Tests from recorded requests, for porticoctl. */
export { loadTestedConfig, type TestedConfig } from '../config-tests/tested-config.ts'
export { type RecordedTests, recordTests } from './record-tests.ts'
