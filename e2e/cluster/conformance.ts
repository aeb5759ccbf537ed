import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { INFERENCE, replacementsIn, type Suite, suiteProgramOf, suites, versionOf, withoutBed } from './bed/programs.ts'
import { type OfficialSuite, runSuite } from './suite.ts'

/**
 * `npm run conformance [-- --version 1.5.1 | -- --inference] [-- FLAG...]`: runs the suite of a release of the Gateway API,
 * the newest without `--version`, or that of inference pools. Flags go to the suite; a whole run that passes leaves its
 * report in `docs/conformance/`.
 */
if (withoutBed !== false) throw new Error(withoutBed)
const { suite, flags } = readArguments(process.argv.slice(2))
if (!existsSync(suite === 'inference' ? INFERENCE : suiteProgramOf(suite))) build(suite)
const { code, report } = await runSuite({ suite, flags, isShown: true })
if (code === 0 && flags.length === 0) {
  const folder = fileURLToPath(new URL('../../docs/conformance/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, reportName(suite)), withReplacements(suite, report))
}
process.exitCode = code

function readArguments(words: readonly string[]): { suite: OfficialSuite; flags: readonly string[] } {
  const [first, release, ...others] = words
  if (first === '--inference') return { suite: 'inference', flags: words.slice(1) }
  if (first === '--version') return { suite: suiteOf(release ?? ''), flags: others }
  return { suite: 'conformance', flags: words }
}

function reportName(each: OfficialSuite): string {
  if (each !== 'inference') return `gateway-api-${releaseOf(each)}.yaml`
  return `inference-extension-${versionOf('inference', 'sigs.k8s.io/gateway-api-inference-extension')}.yaml`
}

function releaseOf(each: Suite): string {
  return versionOf(each, 'sigs.k8s.io/gateway-api')
}

/** The report, after the modules that do not have the version that the suite requires. */
function withReplacements(each: OfficialSuite, text: string): string {
  const lines = replacementsIn(each).map((line) => `# Built with another version of a module: ${line}\n`)
  return [...lines, text].join('')
}

function suiteOf(wanted: string): Suite {
  const found = suites.find((each) => releaseOf(each) === `v${wanted.replace(/^v/, '')}`)
  if (found !== undefined) return found
  throw new Error(`there is no suite of release ${wanted}; there are ${suites.map(releaseOf).join(', ')}`)
}

function build(each: OfficialSuite): void {
  const program = fileURLToPath(new URL('bed/build.ts', import.meta.url))
  execFileSync(process.execPath, [program, ...(each === 'inference' ? [] : [each])], { stdio: 'inherit' })
}
