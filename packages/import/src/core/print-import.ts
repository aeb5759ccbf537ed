import { printConfig } from './config-yaml.ts'
import type { ImportedConfig } from './import-result.ts'
import { entryLine, summaryLine } from './report.ts'
import { printTestFile } from './test-file.ts'

/** The files of an import, as texts. */
export interface ImportTexts {
  readonly config: string
  /** Null when no behavior can be stated. */
  readonly tests: string | null
  readonly report: string
}

/** The names of the files of an import. */
export const IMPORT_FILES = {
  config: 'gateway.yaml',
  tests: 'gateway.test.yaml',
  report: 'gateway.report.txt',
} as const

/** Prints an import of the files, from the gateway. */
export function printImport(
  { config, report, behavior }: ImportedConfig,
  files: readonly string[],
  from: string,
): ImportTexts {
  const origin = `Imported from ${files.join(', ')} (${from}) by porticoctl import.`.replaceAll(/[\r\n]/g, ' ')
  return {
    config: printConfig(config, `${origin}\n${IMPORT_FILES.report} says what is changed and what is not carried.`),
    tests: printTestFile(behavior, IMPORT_FILES.config, origin),
    report: `${origin}\n${summaryLine(report)}\n\n${report.map(entryLine).join('\n')}\n`,
  }
}
