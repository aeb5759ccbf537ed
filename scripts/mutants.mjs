// Applies small changes (mutants) to sources, one at a time, and runs the tests that should fail; `--help` prints the options.
// A kill counts when the same test passes without the change.
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { mutantsOf } from './mutants/changes.mjs'
import { CoveringTests } from './mutants/covering-tests.mjs'
import { TreeCopy } from './mutants/tree-copy.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const HELP = `npm run mutants -- [options]

Applies small changes (mutants) to sources, one at a time, and runs the tests that should fail. A mutant without a failing
test survives, and is listed at the end.

  --count N      the number of mutants (200)
  --seed N       repeats a run: each run prints its random seed
  --in PATH      a folder or file to mutate in place of the usual folders; can be repeated
  --only TEXT    keeps the files whose path contains the text
  --minutes N    the time limit (60)
  --least N      fails when fewer than N percent are killed (90)
`
const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Math.floor(Date.now() / 1000) % 1_000_000) },
    in: { type: 'string', multiple: true, default: [] },
    only: { type: 'string', default: '' },
    minutes: { type: 'string', default: '60' },
    least: { type: 'string', default: '90' },
  },
})

if (values.help) {
  process.stdout.write(HELP)
  process.exit()
}

/** The folders and files whose sources are mutated. */
const PLACES = [
  ...['body', 'exchange', 'fields', 'http1', 'http2', 'runtime', 'server', 'socket', 'tls', 'websocket'].map(
    (name) => `packages/http/src/${name}`,
  ),
  'packages/gateway/src/policies',
  'packages/gateway/src/state',
  'packages/gateway/src/mcp/authorize.ts',
  'packages/gateway/src/llm/guards',
  'packages/translate/src/translate',
  'packages/controller/src/kube/lease.ts',
]
/** Files without mutants: helpers and fixtures of tests, schemas, and keepalive objects for V8 shapes. */
const LEFT_OUT = /\.test\.ts$|(^|\/)(test-|testing\/|fuzz\/|fixtures\/)|schema\.ts$|\.d\.ts$|shape-keepalive\.ts$/

function sourcesIn(place) {
  if (place.endsWith('.ts')) return [place]
  const files = readdirSync(join(root, place), { recursive: true }).map((name) => join(place, name))
  return files.filter((file) => file.endsWith('.ts') && !LEFT_OUT.test(file))
}

/** Returns a random number generator that is deterministic for a seed. */
function seeded(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function sample(all, count, random) {
  const rest = [...all]
  const take = () => rest.splice(Math.floor(random() * rest.length), 1)[0]
  return Array.from({ length: Math.min(count, rest.length) }, take)
}

const WITHOUT_CHANGE = { failed: 'fails', late: 'takes too long' }
const seed = Number(values.seed)
const sources = (values.in.length > 0 ? values.in : PLACES)
  .flatMap(sourcesIn)
  .filter((file) => file.includes(values.only))
const all = sources.flatMap((file) => mutantsOf(root, file))
const chosen = sample(all, Number(values.count), seeded(seed))
const covering = new CoveringTests(root)
const endsAt = Date.now() + Number(values.minutes) * 60_000
console.log(`${chosen.length} of ${all.length} mutants, seed ${seed}`)

const results = { killed: 0, lived: [] }
/** The result of each test in an unchanged tree, cached: only a test that passes there can notice a change. */
const unchanged = new Map()

/** The number of mutants that each test has killed: the most effective test runs first. */
const kills = new Map()

async function isKilled(tree, mutant) {
  const key = (test) => `${mutant.file} ${test}`
  const noticed = (test) => kills.get(key(test)) ?? 0
  for (const test of covering.of(mutant.file).toSorted((a, b) => noticed(b) - noticed(a))) {
    if ((unchanged.get(test) ?? 'passed') !== 'passed') continue
    const result = await tree.with(mutant, () => tree.run(test))
    if (result === 'passed') continue
    // A test may be late because the machine is busy, so that an earlier answer does not count.
    if (!unchanged.has(test) || result === 'late') unchanged.set(test, await runUnchanged(tree, test))
    if (unchanged.get(test) !== 'passed') continue
    kills.set(key(test), noticed(test) + 1)
    return true
  }
  return false
}

/** Runs a test twice if need be, because a test that fails once on a busy machine would be left out of the whole run. */
async function runUnchanged(tree, test) {
  const result = await tree.run(test)
  return result === 'passed' ? result : tree.run(test)
}

async function work() {
  const tree = await TreeCopy.of(root)
  try {
    for (let mutant = chosen.shift(); mutant !== undefined && Date.now() < endsAt; mutant = chosen.shift()) {
      if (await isKilled(tree, mutant)) results.killed++
      else {
        results.lived.push(mutant)
        const tried = results.killed + results.lived.length
        console.log(`lived: ${mutant.file}:${mutant.line} ${mutant.what} (${results.killed} of ${tried} killed)`)
      }
    }
  } finally {
    await tree.remove()
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, work))
const total = results.killed + results.lived.length
const share = total === 0 ? 0 : results.killed / total
for (const [test, result] of unchanged)
  if (result !== 'passed') console.log(`left out, because it ${WITHOUT_CHANGE[result]} without a change: ${test}`)
console.log(
  `${results.killed} of ${total} killed (${(100 * share).toFixed(1)} %), ${chosen.length} not tried in time, seed ${seed}`,
)
process.exitCode = 100 * share >= Number(values.least) ? 0 : 1
