// Finds the tests that should notice a change to a source file, the likeliest first.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Workspace } from './workspace.mjs'

/**
 * Tests in other folders, by the folder of the source: they reach it over real sockets or with whole resources. `*` stands
 * for a part of a name, `**` for any folders.
 */
export const WIDER = [
  [
    'packages/translate/src/**',
    'packages/translate/src/**/translator',
    'packages/translate/src/testing/**/{golden,secrets,blast-radius,any-order,partial-materials}',
    'packages/controller/src/**/{controller,controller-materials,deployments}',
  ],
  ['**/http/src/{server/,}http1/**', '**/http/src/server/http1/*'],
  ['**/http/src/http1/**', '**/http/src/client/http1/*'],
  ['**/http/src/{server/,}http2/**', '**/http/src/server/http2/*'],
  ['**/http/src/http2/**', '**/http/src/client/http2/*'],
  [
    '**/http/src/{server/,}http?/**',
    '**/http/src/server/{large-bodies,client-leaves,listener}',
    '**/pipeline/**/drain',
    '**/policies/traffic/{upgrades,timeouts}/**',
    '**/policies/frontend/http/**',
  ],
  [
    '**/http/src/{server/,}tls/**',
    '**/policies/{frontend,backend}/tls/**',
    '**/client/destination/tls',
    '**/process/**/{client-certificate,certificate-expiry}',
  ],
  [
    '**/http/src/{server,socket,body,exchange,fields,runtime,websocket}/*',
    '**/pipeline/**/drain',
    '**/policies/traffic/upgrades/**',
    '**/policies/backend/tunnel/**',
    '**/policies/frontend/{http,tcp}/**',
  ],
  [
    '**/http/src/server/listener.ts',
    '**/policies/frontend/{tls,proxy-protocol,network-authorization}/**',
    '**/static/raw',
    '**/process/**/{connection-cap,reload}',
  ],
  [
    '**/src/llm/guards/**',
    '**/backends/ai/**/{guarded,native-guard,guard-bypass,guarded-failover}',
    '**/policies/backend/ai/**',
  ],
  ['**/policies/traffic/{authorization,jwt-authentication}/**', '**/mcp/oauth/flow'],
  ['**/explain.ts', 'packages/gateway/src/explain/*'],
  ['**/src/mcp/authorize.ts', '**/policies/backend/mcp/**', '**/backends/mcp/**/tools'],
].map(([sources, ...tests]) => ({
  sources: patternOf(sources),
  tests: tests.map((test) => patternOf(`${test}${test.endsWith('**') ? '/*' : ''}.test.ts`)),
}))
const MOST_TESTS = 24
/** So many imports away that a test counts for nothing by them. */
const FAR = 4

export class CoveringTests {
  #tests
  #root
  /** The imports of each file. */
  #imports = new Map()
  #workspace

  constructor(root) {
    this.#root = root
    this.#workspace = new Workspace(root)
    this.#tests = this.#workspace.folders.flatMap(([, folder]) => testsIn(root, join(folder, 'src')))
  }

  of(file) {
    const own = file.replace(/\.ts$/, '.test.ts')
    const folder = dirname(file)
    const wider = WIDER.flatMap(({ sources, tests }) => (sources.test(file) ? tests : []))
    const words = wordsOf(file, readFileSync(join(this.#root, file), 'utf8'))
    const ranked = this.#tests.map((known) => {
      const { test, text } = known
      const isNear = test.startsWith(`${folder}/`)
      const mentions = words.filter((word) => text.includes(word)).length
      const isWider = wider.some((pattern) => pattern.test(test))
      if (test !== own && !isNear && !isWider && mentions === 0) return { test, rank: 0 }
      known.depths ??= this.#depthsFrom(test)
      // Tests that start the program as users do import nothing of it.
      const depth = known.depths.get(file) ?? (isWider && test.includes('/process/') ? FAR : undefined)
      if (depth === undefined) return { test, rank: 0 }
      const place =
        test === own
          ? 100
          : isWider
            ? packageOf(test) === packageOf(file)
              ? 30
              : 10
            : isNear
              ? 30 - distance(folder, test)
              : 5
      return { test, rank: place + Math.max(0, 40 - 10 * depth) + Math.min(mentions, 4) * 4 }
    })
    return ranked
      .filter(({ rank }) => rank > 0)
      .toSorted((a, b) => b.rank - a.rank)
      .slice(0, MOST_TESTS)
      .map(({ test }) => test)
  }

  /** The number of imports from a test to each file that it reaches. */
  #depthsFrom(test) {
    const depths = new Map([[test, 0]])
    for (const [file, depth] of depths)
      for (const next of this.#importsOf(file)) if (!depths.has(next)) depths.set(next, depth + 1)
    return depths
  }

  #importsOf(file) {
    let known = this.#imports.get(file)
    if (known === undefined) {
      known = this.#workspace.importsOf(file)
      this.#imports.set(file, known)
    }
    return known
  }
}

/** Names that only tests of this file are likely to contain: its exports, and its policy. */
function wordsOf(file, text) {
  const exported = [...text.matchAll(/^export (?:async )?(?:function|const|class) (\w{6,})/gm)].map((match) => match[1])
  const policy = /policies\/\w+\/([^/]+)\//.exec(file)?.[1]
  const name = policy?.replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase())
  return [...new Set([...exported, ...(name === undefined || name.length < 4 || name === 'http' ? [] : [`${name}:`])])]
}

function testsIn(root, folder) {
  if (!existsSync(join(root, folder))) return []
  const tests = readdirSync(join(root, folder), { recursive: true }).filter((name) => isTest(basename(name)))
  return tests.map((name) => {
    const test = join(folder, name)
    return { test, text: readFileSync(join(root, test), 'utf8'), depths: null }
  })
}

/** A pattern of paths: `*` and `?` within a name, `**` for any folders, `{a,b}` for either. */
function patternOf(text) {
  const parts = { '**/': '(.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]', '.': '\\.', '{': '(', '}': ')', ',': '|' }
  return new RegExp(`^${text.replaceAll(/\*\*\/|\*\*|[*?.{},]/g, (part) => parts[part])}$`)
}

function packageOf(file) {
  return file.split('/')[1]
}

function distance(folder, test) {
  return test.slice(folder.length + 1).split('/').length - 1
}

/** Long tests, and the test that uses every chunk of a new build, take minutes for each change. */
function isTest(name) {
  return name.endsWith('.test.ts') && !name.endsWith('.long.test.ts')
}
