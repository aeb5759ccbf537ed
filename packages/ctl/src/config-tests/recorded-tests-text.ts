import type { RecordedTests } from '@portico/gateway/recorded-tests'
import { printTests } from '../../../import/src/index.ts'

interface TestFileParts {
  readonly config: string
  readonly gateway: string | null
  readonly env: Readonly<Record<string, string>>
}

/** Prints recorded tests as a test file, which begins with a list of the replaced values. */
export function printRecordedTests(
  { tests, replaced }: RecordedTests,
  { config, gateway, env }: TestFileParts,
): string {
  const header = [
    'Recorded requests and their outcomes. Secrets, and what was not recorded, are replaced:',
    ...(replaced.length === 0 ? ['- nothing'] : replaced.map(({ what, count }) => `- ${what} (${count})`)),
  ].join('\n')
  const world = Object.keys(env).length > 0 ? { world: { env } } : {}
  return printTests({ config, ...(gateway !== null && { gateway }), ...world, tests }, header)
}
