// Runs the test files: `npm test`, or those whose path contains one of the arguments. Files that end in `.long.test.ts` run
// in `npm run test:long`, those with real counterparts (e2e/) in `npm run e2e`. Environment variables:
//   PROPERTIES=full    runs every case of every property
//   RETRY_FAILED=1     retries failed groups, alone, and lists those that pass only on retry: they need a fix
//   SKIPPED_TO         a file that gets a line for each skipped test, with the reason
//   CPU_TO             a file that gets a line for each test, with the CPU seconds that it took
//   E2E_INSTALL=1      packs and installs the programs into an empty folder, and suites of e2e/ run those
//   PORTICO_INSTALLED  an existing folder with installed programs to use instead
import { availableParallelism } from 'node:os'
import { appendFileSync, readdirSync, rmSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isRecentEnough, runPinned } from '../packages/gateway/bin/runtime.mjs'
import { installPacked } from './package/install-packed.mjs'
import { keepSeconds, keptSeconds, longestFirst } from './test-order.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const args = process.argv.slice(2)
const wanted = args.filter((arg) => !arg.startsWith('--'))
/** Test files that run alone: most of them need much memory or CPU, or watch their own process. */
const ALONE = /^(bench|scripts|e2e)\/|^packages\/gateway\/src\/testing\/(trace-files|random)\/|\.long\.test\./
const isEndToEnd = args.includes('--e2e')
/** The time limit of one test. Suites have none, because it would be a limit for all of their tests together. */
const TEST_LIMIT_MS = isEndToEnd ? 900_000 : 180_000
/** Two more than the cores, because many tests wait; e2e runs as many as cores, because its counterparts need CPU too. */
const CONCURRENCY = availableParallelism() + (isEndToEnd ? 0 : 2)
/**
 * Suites that need the whole machine (a cluster, a flood, builds of packages and images, memory) run after the others, one
 * at a time.
 */
const WHOLE_MACHINE = /^e2e\/(cluster\/|extensions\/compose|ui\/live-tail|(memory|oci|package)\.)/
/** When more groups fail, they have a common cause, and a retry would fail too. */
const MOST_RETRIED = 6
/**
 * Files that share a process: folders that load much the same modules, because loading them takes a process most of a second of
 * CPU. Other files share a process with their package. No group may take longer than a third of a run.
 */
const GROUPS = {
  'gateway: small folders': gatewayFolders(
    ...['collections', 'credentials', 'exports', 'expressions', 'formats', 'generate', 'ir', 'records', 'redaction'],
    ...['schema', 'state', 'stream', 'testing', 'mcp/merge', 'mcp/oauth', 'mcp/session', 'mcp/[^/]+$', '[^/]+$'],
  ),
  'gateway: requests': gatewayFolders('compile', 'pipeline', 'sources'),
  'gateway: backends': gatewayFolders('backends'),
  'gateway: policies for traffic': gatewayFolders('policies/traffic'),
  'gateway: other policies': gatewayFolders('policies'),
  'gateway: models and telemetry': gatewayFolders('cache', 'llm', 'telemetry'),
  'gateway: MCP': gatewayFolders('mcp'),
  'gateway: stores': gatewayFolders('keys', 'ledger', 'prices', 'spending', 'stores'),
  'gateway: config and admin of a process': gatewayFolders(
    ...['admin', 'config', 'config-edit', 'controller', 'verify'].map((name) => `process/${name}`),
  ),
  'gateway: process': gatewayFolders('process'),
  // In a large heap, minor collections happen in the middle of these tests, which tell what one of them finds.
  'http: young garbage': /^packages\/http\/.*\/young-garbage/,
  'http: clients': /^packages\/http\/src\/client\//,
  'ctl: commands': /^packages\/ctl\/src\/commands\//,
}
const PACKAGE = /^packages\/[^/]+/
/** Tests of components need JSX and a document, which no other test has. */
const COMPONENTS = /\.test\.tsx$/
/** The duration of each group in the last complete run. */
const SECONDS = join(
  root,
  `node_modules/.cache/test-seconds${args.filter((arg) => arg.startsWith('--')).join('')}.json`,
)

if (!isRecentEnough()) runPinned(fileURLToPath(import.meta.url), args)
else await main()

async function main() {
  const files = (isEndToEnd ? ['e2e'] : ['packages', 'bench', 'scripts', 'site']).flatMap(testFiles).filter(isWanted)
  const groups = longestFirst(groupFiles(files), keptSeconds(SECONDS))
  const startedAt = performance.now()
  const installed = isEndToEnd ? useInstalled() : null
  const results = []
  const { shared, alone } = Object.groupBy(groups, ({ name }) => (WHOLE_MACHINE.test(name) ? 'alone' : 'shared'))
  await Promise.all(Array.from({ length: CONCURRENCY }, () => work(shared ?? [], results)))
  await work(alone ?? [], results)
  if (wanted.length === 0)
    keepSeconds(SECONDS, Object.fromEntries(results.map(({ group, seconds }) => [group.name, seconds])))
  const bad = results.filter(({ counts }) => counts.failed > 0)
  const unsure = process.env.RETRY_FAILED === '1' && bad.length <= MOST_RETRIED ? bad : []
  await work(
    unsure.map(({ group }) => group),
    results,
  )
  const counted = results.filter((result) => !unsure.includes(result))
  const [passed, failed, skipped] = ['passed', 'failed', 'skipped'].map((key) =>
    counted.reduce((sum, { counts }) => sum + counts[key], 0),
  )
  const cpu = results.reduce((sum, { counts }) => sum + counts.cpu, 0)
  for (const { group } of unsure) process.stdout.write(`\npassed or failed only on retry, needs a fix: ${group.name}`)
  process.stdout.write(
    `\n${files.length} files in ${Math.round((performance.now() - startedAt) / 1000)} s, CPU ${Math.round(cpu)} s\n`,
  )
  process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`)
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0
  if (installed !== null) rmSync(installed, { recursive: true, force: true })
}

/** Installs the packed programs for the suites; returns the folder, which is removed after the run. */
function useInstalled() {
  if (process.env.E2E_INSTALL !== '1' || process.env.PORTICO_INSTALLED !== undefined) return null
  // The quick start asks users to install this package for its tools.
  return (process.env.PORTICO_INSTALLED = installPacked(['@modelcontextprotocol/server-everything']))
}

async function work(groups, results) {
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    const { output, counts, seconds } = await runGroup(group)
    process.stdout.write(output)
    results.push({ group, counts, seconds })
    const skips = [...output.matchAll(/^ {2}skipped: (.*\n)/gm)].map(([, line]) => `  ${group.name}: ${line}`)
    if (process.env.SKIPPED_TO) appendFileSync(process.env.SKIPPED_TO, skips.join(''))
  }
}

/** Files of a group share a process; files that must run alone have one each. */
function groupFiles(files) {
  const filesByGroup = new Map()
  for (const file of files) {
    const group = ALONE.test(file) ? file : (namedGroup(file) ?? PACKAGE.exec(file)?.[0] ?? file)
    const key = COMPONENTS.test(file) ? `${group} (components)` : group
    filesByGroup.set(key, [...(filesByGroup.get(key) ?? []), file])
  }
  return [...filesByGroup].map(([name, list]) => ({ name, files: list }))
}

function namedGroup(file) {
  return Object.keys(GROUPS).find((name) => GROUPS[name].test(file))
}

/** Files of the gateway in these folders, or files whose path matches the pattern. */
function gatewayFolders(...patterns) {
  return new RegExp(
    `^packages/gateway/src/(${patterns.map((each) => (each.endsWith('$') ? each : `${each}/`)).join('|')})`,
  )
}

function runGroup({ name, files }) {
  const options = [join(root, 'scripts/test-group.mjs'), `--limit-ms=${TEST_LIMIT_MS}`]
  // Long tests run every case: some of those files count what the cases reached.
  const isLong = isEndToEnd || files.some((file) => file.includes('.long.test.'))
  const isQuick = process.env.PROPERTIES !== 'full' && !isLong
  if (isQuick) options.push('--quick')
  if (files.some((file) => COMPONENTS.test(file))) options.push('--components')
  const startedAt = performance.now()
  const child = spawn(process.execPath, [...options, ...files], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  let noise = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk) => (noise += chunk))
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const summary = /^counts (\{.*\})\n/m.exec(text)
      const counts = summary === null ? { passed: 0, failed: 0, skipped: 0, cpu: 0 } : JSON.parse(summary[1])
      // A process that exits with an error, or ran no test, has failed.
      const isBad = code !== 0 || counts.passed + counts.skipped === 0
      if (isBad && counts.failed === 0) counts.failed = 1
      const seconds = (performance.now() - startedAt) / 1000
      const heading = `${counts.failed > 0 ? '✖' : '✔'} ${name} (${files.length === 1 ? '' : `${files.length} files, `}${counts.passed} tests, ${Math.round(seconds)} s, CPU ${Math.round(counts.cpu)} s)\n`
      const details = text.replace(summary?.[0] ?? '', '')
      resolve({ output: heading + details + (counts.failed > 0 ? noise : ''), counts, seconds })
    })
  })
}

function isWanted(file) {
  if (wanted.length > 0) return wanted.some((part) => file.includes(part))
  return args.includes('--all') || file.includes('.long.test.') === args.includes('--long')
}

function testFiles(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.test\.(tsx?|mjs)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('node_modules') && !file.includes('/dist/'))
    .toSorted((a, b) => (a < b ? -1 : 1))
}
