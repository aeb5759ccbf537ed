// Changes sources a little, one place at a time, and runs the tests beside them: a change that no test notices has lived.
//   npm run mutants -- [--count 200] [--seed 1] [--only net/] [--minutes 10]
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parseAst } from 'rolldown/parseAst'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    minutes: { type: 'string', default: '60' },
  },
})

/** The folders and files whose sources are mutated. */
const PLACES = [
  'packages/gateway/src/net',
  'packages/gateway/src/policies',
  'packages/gateway/src/state',
  'packages/gateway/src/mcp/authorize.ts',
  'packages/gateway/src/llm/guards',
  'packages/translate/src/translate',
  'packages/controller/src/kube/lease.ts',
]
const WANTED = 0.9
const TEST_MS = 120_000
const AT_ONCE = 2

const OPPOSITE = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '&&': '||',
  '||': '&&',
  '??': '&&',
}

/** Every small change of a file that could matter. */
function mutantsOf(file) {
  const text = readFileSync(join(root, file), 'utf8')
  const found = []
  const put = (start, end, by, what) =>
    found.push({ file, start, end, by, what, line: text.slice(0, start).split('\n').length })
  walk(parseAst(text, { lang: 'ts', sourceType: 'module' }), null, (node, parent) => {
    if (isSilent(node, text)) return false
    switch (node.type) {
      case 'BinaryExpression':
      case 'LogicalExpression': {
        const by = OPPOSITE[node.operator]
        const isText = node.operator === '+' && [node.left, node.right].some(isTextNode)
        const at = text.indexOf(node.operator, node.left.end)
        if (by !== undefined && !isText && at !== -1 && at < node.right.start)
          put(at, at + node.operator.length, by, `${node.operator} becomes ${by}`)
        break
      }
      case 'UnaryExpression':
        if (node.operator === '!') put(node.start, node.start + 1, '', '! is removed')
        break
      case 'IfStatement': {
        const { consequent } = node
        const isEarly = consequent.type === 'ReturnStatement' && node.alternate === null
        if (isEarly) put(node.start, node.end, ';', 'early return is removed')
        else
          put(
            node.test.start,
            node.test.end,
            `!(${text.slice(node.test.start, node.test.end)})`,
            'condition is negated',
          )
        break
      }
      case 'Literal':
        if (typeof node.value === 'boolean') put(node.start, node.end, String(!node.value), `${node.value} is negated`)
        else if (typeof node.value === 'number' && parent?.type !== 'Property')
          put(node.start, node.end, `(${node.raw} + 1)`, `${node.raw} is one more`)
        break
    }
    return true
  })
  return found
}

/** Types, imports and words for people change nothing that a test should see. */
function isSilent(node, text) {
  if (/^(TS|Import|ExportAll)/.test(node.type))
    return !['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'].includes(node.type)
  if (node.type === 'NewExpression' && /Error$/.test(node.callee.name ?? '')) return true
  if (node.type !== 'CallExpression') return false
  return /(^|\.)(log|trace|logger)(\?)?\.\w+$|\.(describe|emit|note)$/.test(
    text.slice(node.callee.start, node.callee.end),
  )
}

function isTextNode(node) {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string')
}

function walk(node, parent, visit) {
  if (node === null || typeof node !== 'object') return
  if (Array.isArray(node)) {
    for (const item of node) walk(item, parent, visit)
    return
  }
  if (typeof node.type === 'string' && !visit(node, parent)) return
  for (const [key, value] of Object.entries(node)) if (key !== 'parent') walk(value, node, visit)
}

function sourcesIn(place) {
  const at = join(root, place)
  const files = place.endsWith('.ts') ? [place] : readdirSync(at, { recursive: true }).map((name) => join(place, name))
  return files.filter(
    (file) => /\.ts$/.test(file) && !/\.test\.ts$|(^|\/)(test-|testing\/|fuzz\/)|schema\.ts$|\.d\.ts$/.test(file),
  )
}

/** Test files of the folder, and those of its package that import the file. */
function testsOf(file) {
  const folder = dirname(file)
  const beside = readdirSync(join(root, folder))
    .filter((name) => isTest(name))
    .map((name) => join(folder, name))
  const own = join(folder, basename(file).replace(/\.ts$/, '.test.ts'))
  const importing = testImports()
    .filter(({ imports }) => imports.has(file))
    .map(({ test }) => test)
  return [...new Set([...(existsSync(join(root, own)) ? [own] : []), ...importing, ...beside])].slice(0, MOST_TESTS)
}

const MOST_TESTS = 12
let importsByTest = null

function testImports() {
  importsByTest ??= ['packages/gateway/src', 'packages/translate/src', 'packages/controller/src'].flatMap((place) =>
    readdirSync(join(root, place), { recursive: true }).flatMap((name) => {
      if (!isTest(basename(name))) return []
      const test = join(place, name)
      const text = readFileSync(join(root, test), 'utf8')
      const named = [...text.matchAll(/from '(\.[^']+)'/g)].map((match) => join(dirname(test), match[1]))
      return [{ test, imports: new Set(named) }]
    }),
  )
  return importsByTest
}

function isTest(name) {
  return name.endsWith('.test.ts') && !name.endsWith('.long.test.ts')
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
  return Array.from(
    { length: Math.min(count, rest.length) },
    () => rest.splice(Math.floor(random() * rest.length), 1)[0],
  )
}

/** A copy of the tree whose sources may be changed; packages and modules are shared. */
async function copyTree() {
  const folder = await mkdtemp(join(tmpdir(), 'portico-mutants-'))
  const skip = new Set(['node_modules', '.git', 'dist', 'bench'])
  for (const name of readdirSync(root)) {
    if (skip.has(name)) continue
    await cp(join(root, name), join(folder, name), {
      recursive: true,
      filter: (from) => !skip.has(basename(from)),
    })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Returns true when a test fails or the tests time out. */
function isKilled(folder, tests) {
  return new Promise((resolve) => {
    const args = ['--test', '--test-force-exit', '--test-timeout=60000', ...tests]
    const child = spawn(join(root, 'node_modules/.bin/node'), args, { cwd: folder, stdio: 'ignore', detached: true })
    const { pid } = child
    const late = setTimeout(() => pid !== undefined && process.kill(-pid, 'SIGKILL'), TEST_MS)
    child.on('exit', (code) => {
      clearTimeout(late)
      resolve(code !== 0)
    })
  })
}

const seed = Number(values.seed)
const places = PLACES.filter((place) => place.includes(values.only))
const all = places.flatMap((place) => sourcesIn(place)).flatMap((file) => mutantsOf(file))
const chosen = sample(
  all.filter(({ file }) => testsOf(file).length > 0),
  Number(values.count),
  seeded(seed),
)
const endsAt = Date.now() + Number(values.minutes) * 60_000
console.log(`${chosen.length} of ${all.length} mutants, seed ${seed}`)

const results = { killed: 0, lived: [] }
async function work() {
  const folder = await copyTree()
  try {
    for (let mutant = chosen.shift(); mutant !== undefined && Date.now() < endsAt; mutant = chosen.shift()) {
      const path = join(folder, relative(root, join(root, mutant.file)))
      const text = await readFile(path, 'utf8')
      await writeFile(path, text.slice(0, mutant.start) + mutant.by + text.slice(mutant.end))
      const killed = await isKilled(folder, testsOf(mutant.file))
      await writeFile(path, text)
      if (killed) results.killed++
      else results.lived.push(mutant)
      if (!killed) console.log(`lived: ${mutant.file}:${mutant.line} ${mutant.what}`)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, work))
const total = results.killed + results.lived.length
const share = total === 0 ? 0 : results.killed / total
console.log(
  `${results.killed} of ${total} killed (${(100 * share).toFixed(1)} %), ${chosen.length} not tried in time, seed ${seed}`,
)
process.exitCode = share >= WANTED ? 0 : 1
