import { checkCompile } from '../../compile/check.ts'
import { loadFeatures } from '../../compile/load-features.ts'
import { HELP, parseCommand } from './cli.ts'
import { type ConfigSource, configSource } from '../config/config-source.ts'
import { BAD_CONFIG, OK } from '../program/exit-codes.ts'
import { serve } from './serve.ts'
import { keyFileOf, sessionKeyProblem } from '../config/session-keys.ts'
import type { LoadedConfig } from '../../sources/file.ts'
import { printExpanded } from '../../sources/llm/print-expanded.ts'
import { firstProblems, printProblem } from '../../sources/print-problems.ts'
import { failedTests } from '../verify/failed-tests.ts'
import { VERSION } from '../../version.ts'

/** Runs the program; resolves with the exit code when the program ends. */
export async function main(args: readonly string[]): Promise<number> {
  const command = parseCommand(args)
  switch (command.kind) {
    case 'help':
      process.stdout.write(HELP)
      return OK
    case 'version':
      process.stdout.write(`portico ${VERSION}\n`)
      return OK
    case 'mistake':
      process.stderr.write(`portico: ${command.message}\n\n${HELP}`)
      return BAD_CONFIG
    case 'run': {
      const source = await configSource(command.file, command.gateway)
      if (command.printExpanded) return validate(source, expandedText)
      return command.validateOnly ? validate(source, () => VALID) : serve(source)
    }
  }
}

/** Checks the config; `print` gives the output for a valid one. */
async function validate(source: ConfigSource, print: (loaded: LoadedConfig) => string): Promise<number> {
  const loaded = await source.load()
  const problems = loaded.ok ? await problemsOf(loaded, source.path ?? '') : loaded.problems
  if (loaded.ok && problems.length === 0) problems.push(...(await failedTests(loaded, source.path ?? '')))
  if (!loaded.ok || problems.length > 0) {
    process.stderr.write(firstProblems(problems).join('\n') + '\n')
    return BAD_CONFIG
  }
  for (const warning of loaded.warnings) process.stderr.write(`warning: ${printProblem(warning)}\n`)
  process.stdout.write(print(loaded))
  return OK
}

const VALID = 'Configuration is valid!\n'

/** Manifests have no text and no short form. */
function expandedText({ text }: LoadedConfig): string {
  return text === undefined ? '# Manifests have no short form.\n' : printExpanded(text.text)
}

/** The problems that a start would find in a valid file: faults of compilation, and bad session keys. */
async function problemsOf({ ir, process: settings, explain }: LoadedConfig, path: string): Promise<string[]> {
  await loadFeatures(ir)
  const faults = checkCompile(ir).map(explain)
  if (!ir.backends.some(({ target }) => target.kind === 'mcp')) return faults
  const problem = sessionKeyProblem({ environment: process.env, keyFile: keyFileOf(settings, path) })
  return problem === null ? faults : [...faults, problem]
}
