import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { compileFunction } from 'node:vm'
import { pinnedNode } from '../packages/gateway/bin/runtime.mjs'
import { asChunk } from './chunk-text.mjs'
import { freshProgram } from './fresh-program.mjs'
import { dropDescriptions } from './without-descriptions.mjs'

const getter = (name) =>
  `Object.defineProperty(exports, "${name}", {\n  enumerable: true,\n  get: function () {\n    return ${name};\n  }\n});\n`

function exportsOf(code) {
  const module = { exports: {} }
  compileFunction(asChunk(code), ['module', 'exports'])(module, module.exports)
  return module.exports
}

test('exports of a chunk are plain members, but those that change', () => {
  const made = exportsOf(
    `var a = 1;\nlet b = 1;\nfunction add() { b++; }\n${getter('a')}${getter('b')}${getter('add')}`,
  )
  assert.equal(Object.getOwnPropertyDescriptor(made, 'a')?.value, 1)
  made.add()
  assert.equal(made.b, 2)
})

test('a chunk whose exports are members already keeps them, getters too', () => {
  const made = exportsOf(`var a = 1;\nvar b = 2;\nexports.a = a;\n${getter('b')}`)
  assert.deepEqual([made.a, made.b], [1, 2])
})

test('a chunk is ASCII and means the same', () => {
  const code = `module.exports = ["\u00e4 \u2192 \u{1f600}", \`\u2026\`, /^[\u2013\u{1f600}]$/u.test("\u{1f600}"), /\u2192/.test("\u2192")];`
  assert.match(asChunk(code), /^[\0-\x7f]*$/)
  assert.deepEqual(exportsOf(code), ['\u00e4 \u2192 \u{1f600}', '\u2026', true, true])
})

test('descriptions of definitions are left out, whatever stands in them', () => {
  const code = `const a = object({
  b: string(short as number).optional().describe('It is "b)", \\'so\\'.'),
  c: list(d().describe(\`In \${what('e')}.\`), { max: 1 }).describe(
    'On ' + 'lines.',
  ),
}).describe('All.')`
  const left = `const a = object({
  b: string(short as number).optional(),
  c: list(d(), { max: 1 }),
})`
  assert.equal(dropDescriptions(code, 'schema.ts'), left)
})

test('the built gateway starts with code that is compiled already, in every thread', { timeout: 120_000 }, (t) => {
  const node = pinnedNode()
  if (node === null) return t.skip('the Node that code is compiled for does not come for this platform')
  const built = freshProgram('gateway')
  assert.ok(built !== null)
  const folder = mkdtempSync(join(tmpdir(), 'portico-built-'))
  try {
    const watcher = join(folder, 'watch.cjs')
    writeFileSync(watcher, WATCHER)
    const env = { PATH: process.env.PATH ?? '' }
    for (const thread of ['main', 'worker']) {
      const kind = readdirSync(join(built, 'code')).find((name) => name.endsWith(`-${thread}`)) ?? ''
      const compiled = readdirSync(join(built, 'code', kind))
      for (const part of ['ai-', 'mcp-', thread === 'main' ? 'portico.js' : 'worker.js'])
        assert.ok(
          compiled.some((name) => name.startsWith(part)),
          `${part} in ${kind}`,
        )
    }
    const said = execFileSync(node, ['--require', watcher, join(built, 'portico.js'), '--version'], {
      encoding: 'utf8',
      env,
    })
    assert.match(said, /^portico \d/m)
    assert.match(said, /^taken portico\.js$/m)
    assert.doesNotMatch(said, /^refused|^missing/m)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Says of each chunk whether V8 took what was compiled of it. */
const WATCHER = `const vm = require('node:vm')
const { basename } = require('node:path')
vm.Script = class extends vm.Script {
  constructor(code, options) {
    super(code, options)
    const state = options.cachedData === undefined ? 'missing' : this.cachedDataRejected ? 'refused' : 'taken'
    process.stdout.write(state + ' ' + basename(options.filename) + '\\n')
  }
}
`
