import type { LoadedConfig } from '../../sources/file.ts'
import { testsOf } from './verify-settings.ts'

/** Runs the tests that a config names, without a gateway; returns the reasons to reject the config. */
export async function failedTests(loaded: LoadedConfig, path: string): Promise<string[]> {
  const { verify } = loaded.process
  const tests = testsOf(loaded)
  if (verify === undefined || tests === null || loaded.text === undefined) return []
  const { runVerification } = await import('../../verify/run-verification.ts')
  const { text, ...place } = loaded.text
  const result = await runVerification({ text, place, path, tests, backtest: null }, verify.timeout)
  return typeof result === 'string' ? [`the config could not be verified: ${result}`] : [...result.problems]
}
