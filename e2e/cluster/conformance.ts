import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { replacementsIn, type Suite, suiteProgramOf, suites, versionOf, withoutBed } from './bed/programs.ts'
import { runSuite } from './suite.ts'

/**
 * `npm run conformance [-- --version 1.5.1] [-- FLAG...]`: runs the suite of a release, the newest without `--version`.
 * Flags go to the suite; a whole run that passes leaves its report in `docs/conformance/`.
 */
if (withoutBed !== false) throw new Error(withoutBed)
const [first, release, ...others] = process.argv.slice(2)
const hasRelease = first === '--version'
const suite = hasRelease ? suiteOf(release ?? '') : 'conformance'
const flags = hasRelease ? others : process.argv.slice(2)
if (!existsSync(suiteProgramOf(suite))) build(suite)
const { code, report } = await runSuite({ suite, flags, isShown: true })
if (code === 0 && flags.length === 0) {
  const folder = fileURLToPath(new URL('../../docs/conformance/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `gateway-api-${releaseOf(suite)}.yaml`), withReplacements(report))
}
process.exitCode = code

function releaseOf(each: Suite): string {
  return versionOf(each, 'sigs.k8s.io/gateway-api')
}

/** The report, after the modules that do not have the version that the suite requires. */
function withReplacements(text: string): string {
  const lines = replacementsIn(suite).map((each) => `# Built with another version of a module: ${each}\n`)
  return [...lines, text].join('')
}

function suiteOf(wanted: string): Suite {
  const found = suites.find((each) => releaseOf(each) === `v${wanted.replace(/^v/, '')}`)
  if (found !== undefined) return found
  throw new Error(`there is no suite of release ${wanted}; there are ${suites.map(releaseOf).join(', ')}`)
}

function build(each: Suite): void {
  const program = fileURLToPath(new URL('bed/build.ts', import.meta.url))
  execFileSync(process.execPath, [program, each], { stdio: 'inherit' })
}
