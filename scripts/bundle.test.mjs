import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { compileFunction } from 'node:vm'
import { pinnedNode } from '../packages/gateway/bin/runtime.mjs'
import { asChunk, asChunks } from './chunk-text.mjs'
import { freshProgram } from './fresh-program.mjs'
import { dropDescriptions } from './without-descriptions.mjs'

const getter = (name) =>
  `Object.defineProperty(exports, "${name}", {\n  enumerable: true,\n  get: function () {\n    return ${name};\n  }\n});\n`

function exportsOf(code) {
  const module = { exports: {} }
  compileFunction(asChunk(code), ['module', 'exports'])(module, module.exports)
  return module.exports
}

test('exports of a chunk are plain members, except those that change', () => {
  const made = exportsOf(
    `var a = 1;\nlet b = 1;\nfunction add() { b++; }\n${getter('a')}${getter('b')}${getter('add')}`,
  )
  assert.equal(Object.getOwnPropertyDescriptor(made, 'a')?.value, 1)
  made.add()
  assert.equal(made.b, 2)
})

test('imports of other chunks are constants, except those that change', () => {
  const texts = asChunks(
    new Map([
      ['a.js', `var a = 1;\nlet b = 1;\nfunction add() { b++; }\n${getter('a')}${getter('b')}${getter('add')}`],
      [
        'b.js',
        'const require_a = require("./a.js");\nvar all = () => (require_a.add(), [require_a.a, require_a.b, "require_a.b"]);\n' +
          getter('all'),
      ],
    ]),
  )
  const load = (name) => {
    const module = { exports: {} }
    const parameters = ['module', 'exports', 'require']
    compileFunction(texts.get(name), parameters)(module, module.exports, (id) => load(id.slice(2)))
    return module.exports
  }
  assert.deepEqual(load('b.js').all(), [1, 2, 'require_a.b'])
  assert.match(texts.get('b.js'), /const \{ add: \S+, a: \S+ \} = require_a;/)
})

test('a lazy chunk is loaded at its first use', () => {
  const texts = asChunks(
    new Map([
      ['esm-1.js', `let a = 1;\nlet Thing = class { size = 2; };\n${getter('a')}${getter('Thing')}`],
      ['cjs-1.js', `var require_dist = () => ({ b: 3, Other: class { size = 4; } });\n${getter('require_dist')}`],
      [
        'main.js',
        'const require_esm = require("./esm-1.js");\nconst require_cjs = require("./cjs-1.js");\n' +
          'var import_dist = require_cjs.require_dist();\n' +
          'var all = () => [require_esm.a, new require_esm.Thing().size, import_dist.b, new import_dist.Other().size];\n' +
          getter('all'),
      ],
    ]),
    new Set(['esm-1.js', 'cjs-1.js']),
  )
  const loaded = []
  const load = (name) => {
    loaded.push(name)
    const module = { exports: {} }
    const parameters = ['module', 'exports', 'require']
    compileFunction(texts.get(name), parameters)(module, module.exports, (id) => load(id.slice(2)))
    return module.exports
  }
  const { all } = load('main.js')
  assert.deepEqual(loaded, ['main.js'])
  assert.deepEqual(all(), [1, 2, 3, 4])
})

test('a large builtin is loaded at its first use', () => {
  const code = `let node_crypto = require("node:crypto");
let node_path = require("node:path");
const all = () => [(0, node_crypto.hash)('a'), new node_crypto.Sign('b').name, mynode_crypto.c];
const mynode_crypto = { c: 'c' };
${getter('all')}`
  const loaded = []
  const load = (id) => {
    loaded.push(id)
    return {
      hash: (text) => text,
      Sign: function Sign(name) {
        this.name = name
      },
    }
  }
  const module = { exports: {} }
  const text = asChunks(new Map([['a.js', code]])).get('a.js')
  compileFunction(text, ['module', 'exports', 'require'])(module, module.exports, load)
  assert.deepEqual(loaded, ['node:path'])
  assert.deepEqual(
    [module.exports.all(), module.exports.all()],
    [
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ],
  )
  assert.deepEqual(loaded, ['node:path', 'node:crypto'])
})

test('a default import of a large builtin is loaded at its first use', () => {
  const code = `const runtime = { __toESM: (module) => ({ ...module, default: module }) };
let node_http = require("node:http");
node_http = runtime.__toESM(node_http, 1);
const all = () => [node_http.default.name, node_http.name, typeof node_http.default.name];
${getter('all')}`
  const loaded = []
  const module = { exports: {} }
  const text = asChunks(new Map([['a.js', code]])).get('a.js')
  const load = (id) => loaded.push(id) && { name: 'http' }
  compileFunction(text, ['module', 'exports', 'require'])(module, module.exports, load)
  assert.deepEqual(loaded, [])
  assert.deepEqual(module.exports.all(), ['http', 'http', 'string'])
  assert.deepEqual(loaded, ['node:http'])
})

test('a builtin that is passed on or assigned is loaded with its chunk', () => {
  for (const use of ['use(node_tls)', 'node_tls = { ...node_tls, use }', '{ node_tls }']) {
    const code = `const use = (module) => module;\nlet node_tls = require("node:tls");\nconst all = () => (${use});\n${getter('all')}`
    const module = { exports: {} }
    const text = asChunks(new Map([['a.js', code]])).get('a.js')
    compileFunction(text, ['module', 'exports', 'require'])(module, module.exports, () => ({ name: 'tls' }))
    assert.match(JSON.stringify(module.exports.all()), /"name":"tls"/)
  }
})

test('a chunk whose exports are members keeps them, including getters', () => {
  const made = exportsOf(`var a = 1;\nvar b = 2;\nexports.a = a;\n${getter('b')}`)
  assert.deepEqual([made.a, made.b], [1, 2])
})

test('a chunk is converted to ASCII without changing its meaning', () => {
  const code = `module.exports = ["\u00e4 \u2192 \u{1f600}", \`\u2026\`, /^[\u2013\u{1f600}]$/u.test("\u{1f600}"), /\u2192/.test("\u2192")];`
  assert.match(asChunk(code), /^[\0-\x7f]*$/)
  assert.deepEqual(exportsOf(code), ['\u00e4 \u2192 \u{1f600}', '\u2026', true, true])
})

test('a lazy module is not parenthesized, and still runs', () => {
  const code = `const runs = [];
const runtime = { __esmMin: (run) => run };
var init = runtime.__esmMin((() => { runs.push('esm'); }));
var required = runtime.__esmMin(((exports) => { runs.push(exports); }));
init();
required(1);
module.exports = runs;`
  assert.doesNotMatch(asChunk(code), /Min\(\(\(/)
  assert.deepEqual(exportsOf(code), ['esm', 1])
})

test('descriptions of schemas are removed, whatever they contain', () => {
  const code = `const a = object({
  b: string(short as number).optional().describe('It is "b)", \\'so\\'.'),
  c: list(d().describe(\`In \${what('e')}.\`), { max: 1 }).describe(
    'On ' + 'lines.',
  ),
  f: (g ? h : i()).describe('One of two.'),
}).describe('All.')`
  const left = `const a = object({
  b: string(short as number).optional(),
  c: list(d(), { max: 1 }),
  f: (g ? h : i()),
})`
  assert.equal(dropDescriptions(code, 'schema.ts'), left)
})

/** The limit of code that every start of porticoctl loads. */
const CTL_BYTES = 250_000

/** The limit of code that a worker with a plain config loads. */
const WORKER_BYTES = 915_000

/** Chunks that are loaded with configs that need them, and are in the compile cache. */
const LATER = [
  ...['ai', 'mcp'],
  ...['basic-authentication', 'ext-auth', 'ext-proc', 'jwt-authentication', 'rate-limit'],
]

/** Chunks that are loaded on demand, and are not in the compile cache. */
const NEVER_COMPILED = [
  'http2-connection',
  'mcp-authentication',
  'check-method',
  'o200k_base',
  'dist-cjs',
  'zod',
  'yaml',
  're2js',
]

/** The names of the chunks with cached code: files of the folder, and those in the first line of the pack of a start. */
function compiledIn(folder) {
  const files = readdirSync(folder)
  if (!files.includes('start.pack')) return files
  const pack = readFileSync(join(folder, 'start.pack'))
  const index = JSON.parse(pack.toString('latin1', 0, pack.indexOf('\n')))
  return [...files, ...index.map(([name]) => name)]
}

test('the built gateway starts with cached code', { timeout: 120_000 }, async (t) => {
  const node = pinnedNode()
  if (node === null) return t.skip('the Node that code is compiled for does not come for this platform')
  const built = freshProgram('gateway')
  assert.ok(built !== null)
  for (const thread of ['main', 'worker']) {
    const kind = readdirSync(join(built, 'code')).find((name) => name.endsWith(`-${thread}`)) ?? ''
    const compiled = compiledIn(join(built, 'code', kind))
    for (const part of [...LATER.map((name) => `${name}-`), thread === 'main' ? 'portico.js' : 'worker.js'])
      assert.ok(
        compiled.some((name) => name.startsWith(part)),
        `${part} in ${kind}`,
      )
  }
  for (const threads of [['main'], ['main', 'worker']]) {
    const { chunks, builtins } = await loadedBy(node, built, { separateWorker: threads.length > 1 })
    const heavy = ['http2', 'tls', 'fs/promises']
    assert.deepEqual(
      builtins
        .map(({ thread, names }) => [thread, names.filter((name) => heavy.includes(name))])
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
      threads.map((thread) => [thread, []]),
      'modules of the runtime that a plain config does not need',
    )
    assert.deepEqual(
      chunks.filter(({ state }) => state !== 'taken'),
      [],
    )
    assert.deepEqual(
      chunks.filter(({ name }) => [...LATER, ...NEVER_COMPILED].includes(name.replace(/-.{8}\.js$/, ''))),
      [],
      'a plain config needs neither language models nor MCP, policies of much code, nor what says what is wrong with one',
    )
    if (threads.length === 1) continue
    const bytes = chunks.filter(({ thread }) => thread === 'worker').reduce((sum, { size }) => sum + size, 0)
    assert.ok(bytes > 0 && bytes < WORKER_BYTES, `a worker loads ${bytes} bytes of code`)
    t.diagnostic(`a worker loads ${bytes} bytes of code`)
  }
})

test('the built gateway reports problems of a config', { timeout: 120_000 }, async (t) => {
  const node = pinnedNode()
  if (node === null) return t.skip('the Node that code is compiled for does not come for this platform')
  const built = freshProgram('gateway')
  assert.ok(built !== null)
  const folder = mkdtempSync(join(tmpdir(), 'portico-built-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'gateway.yaml')
  const backends = '        backends: [{ host: "127.0.0.1:9" }]'
  const routes = [`      - matches: [{ path: { regex: "(a" } }]`, backends, '      - backend: &none []', backends]
  writeFileSync(file, ['binds:', '- port: 0', '  listeners:', '    - routes:', ...routes, ''].join('\n'))
  const child = spawn(node, [join(built, 'portico.js'), '-f', file, '--validate-only'], {
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'close')
  let said = ''
  child.stderr.on('data', (text) => (said += text))
  assert.deepEqual(await ended, [2, null], said)
  assert.match(said, /gateway\.yaml:5:36: .*regex/)
  assert.match(said, /gateway\.yaml:7:9: .*unknown key `backend`.*\n.*did you mean `backends`/)
})

test(
  'the built porticoctl loads neither translation, clusters nor the terminal UI before they are asked for',
  { timeout: 120_000 },
  () => {
    const built = freshProgram('ctl')
    assert.ok(built !== null)
    const program = join(built, 'program')
    const loaded = new Set(['porticoctl.js'])
    for (const name of loaded) {
      const code = readFileSync(join(program, name), 'utf8')
      for (const [, chunk] of code.matchAll(/^(?:const .* = )?require\("\.\/([^"]+)"\);$/gm)) loaded.add(chunk)
    }
    for (const later of ['translate-files-', 'import-files-', 'cluster-', 'show-status-', 'show-effective-']) {
      assert.ok(readdirSync(program).some((name) => name.startsWith(later)))
      assert.ok(![...loaded].some((name) => name.startsWith(later)), later)
    }
    assert.ok(existsSync(join(built, 'screen/screen.js')), 'the terminal UI is a program of its own')
    const bytes = [...loaded].reduce((sum, name) => sum + readFileSync(join(program, name)).length, 0)
    assert.ok(bytes < CTL_BYTES, `a start loads ${bytes} bytes of code`)
  },
)

test('the built porticoctl opens its terminal UI', { timeout: 120_000 }, async () => {
  const built = freshProgram('ctl')
  assert.ok(built !== null)
  const code = readFileSync(join(built, 'program/porticoctl.js'), 'utf8')
  const [, path] = /\bimport\("([^"]+)"\)/.exec(code) ?? []
  const { traceToScreen } = await import(pathToFileURL(join(built, 'program', path)).href)
  assert.equal(typeof traceToScreen, 'function')
})

/**
 * The chunks and builtins that each thread of a gateway with a plain config loads, and whether V8 accepted the cached code.
 */
async function loadedBy(node, built, { separateWorker }) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-built-'))
  try {
    const [watcher, file, seen] = ['watch.cjs', 'gateway.yaml', 'seen'].map((name) => join(folder, name))
    writeFileSync(watcher, WATCHER)
    const any = '127.0.0.1:0'
    const config = { workers: 1, separateWorker, adminAddr: any, statsAddr: any, readinessAddr: any }
    const listeners = [{ routes: [{ backends: [{ host: '127.0.0.1:9' }] }] }]
    writeFileSync(file, JSON.stringify({ config, binds: [{ port: 0, address: '127.0.0.1', listeners }] }))
    const env = { PATH: process.env.PATH ?? '', SEEN: seen }
    const args = ['--require', watcher, join(built, 'portico.js'), '-f', file]
    const child = spawn(node, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    const ended = once(child, 'exit')
    let said = ''
    child.stderr.on('data', (text) => {
      said += text
      if (/ is running /.test(said)) child.kill('SIGTERM')
    })
    const [code] = await ended
    assert.equal(code, 0, said)
    const lines = readFileSync(seen, 'utf8').trim().split('\n')
    const all = lines.map((line) => JSON.parse(line))
    return { chunks: all.filter(({ state }) => state), builtins: all.filter(({ names }) => names) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * A preload script that reports whether V8 accepted the cached code of each chunk, and at the end of a thread its loaded
 * builtins.
 */
const WATCHER = `const vm = require('node:vm')
const { appendFileSync } = require('node:fs')
const { basename } = require('node:path')
const { isMainThread } = require('node:worker_threads')
const thread = isMainThread ? 'main' : 'worker'
process.on('exit', () => {
  const names = process.moduleLoadList.map((name) => name.replace('NativeModule ', ''))
  appendFileSync(process.env.SEEN, JSON.stringify({ thread, names }) + '\\n')
})
vm.Script = class extends vm.Script {
  constructor(code, options) {
    super(code, options)
    const state = options.cachedData === undefined ? 'missing' : this.cachedDataRejected ? 'refused' : 'taken'
    const chunk = { thread, name: basename(options.filename), size: code.length, state }
    appendFileSync(process.env.SEEN, JSON.stringify(chunk) + '\\n')
  }
}
`
