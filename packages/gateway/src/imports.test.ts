import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { folderCycles } from './testing/structure/folder-cycles.ts'
import { type Import, type ImportGraph, readImportGraph } from './testing/structure/import-graph.ts'

/** The rules of ARCHITECTURE.md, "Imports go one way", held against the graph as it is. */

const packagesRoot = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const graphByPackage = new Map(
  readdirSync(packagesRoot).map((name) => [name, readImportGraph(join(packagesRoot, name, 'src'))]),
)
const importsByFile = graphByPackage.get('gateway') ?? assert.fail('there is no gateway')

const folderOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '')
/** Data that both schemas and workers read. */
const isVocabulary = (file: string): boolean =>
  ['expressions', 'formats'].includes(folderOf(file)) ||
  ['redaction/secret-names.ts', 'llm/providers/openai-calls.ts', 'llm/providers/presets.ts'].includes(file)
/** Data for every program: the kit, each `schema.ts`, and the index of the policies. */
const isSchema = (file: string): boolean =>
  file.startsWith('schema/') || file.endsWith('/schema.ts') || file === 'policies/index.ts'
/** Folders of the features that a config turns on. */
const isFeature = (file: string): boolean => /^(policies|backends|llm|mcp|credentials)\//.test(file)
/** The folder of a feature: `backends/ai`, `policies/traffic/cors`. */
const featureOf = (file: string): string =>
  dirname(file)
    .split('/')
    .slice(0, file.startsWith('policies/') ? 3 : 2)
    .join('/')
/** Policies and kinds of backends: the outermost. */
const isOutermost = (file: string): boolean => /^(policies|backends)\//.test(file) && isFeature(file)
/** The folders of packages/http, from the bottom. */
const ENGINE = [
  ...['text', 'json', 'sse', 'multipart', 'runtime', 'websocket', 'tls', 'fields', 'body', 'socket', 'exchange'],
  ...['http1', 'http2', 'server', 'client', 'entries'],
]
const isAbove = (from: string, to: string): boolean =>
  ENGINE.includes(from) && ENGINE.indexOf(to) > ENGINE.indexOf(from)

describe('imports go one way', () => {
  it('the schema side loads in a browser: no builtin, no behaviour', () => {
    const packages = new Set([
      'zod',
      '@portico/regex',
      '@portico/cel/check',
      '@portico/cel/declare',
      '@portico/http/json',
      '@portico/http/text',
    ])
    const allowed = (to: string): boolean => packages.has(to) || isSchema(to) || isVocabulary(to)
    expectNone((file, { to }) => (isSchema(file) || isVocabulary(file)) && !allowed(to))
  })

  it('the entries of packages/http that the schema side uses load no builtin', () => {
    const engine = graphByPackage.get('http') ?? assert.fail('there is no packages/http')
    for (const entry of ['entries/json.ts', 'entries/text.ts']) {
      const loaded = reachable(entry, () => true, engine)
      assert.ok(loaded.size > 2)
      assert.deepEqual(
        [...loaded].filter((name) => name.startsWith('node:')),
        [],
      )
    }
  })

  it('one module imports zod', () => {
    expectNone((file, { to }) => to === 'zod' && file !== 'schema/zod.ts')
  })

  it('telemetry, admin, pipeline and state know no feature', () => {
    const below = new Set(['telemetry', 'admin', 'pipeline', 'state'])
    expectNone((file, { to }) => below.has(folderOf(file)) && (isFeature(to) || folderOf(to) === 'sources'))
  })

  it('telemetry does not reach up, and knows no HTTP', () => {
    const engine = new Set(['@portico/http/faults', '@portico/http/text'])
    expectNone((file, { to }) => folderOf(file) === 'telemetry' && ['pipeline', 'ir'].includes(folderOf(to)))
    expectNone((file, { to }) => folderOf(file) === 'telemetry' && to.startsWith('@portico/http') && !engine.has(to))
  })

  it('language models, MCP and credentials know nothing of one another, and share what is on the wire', () => {
    const apart = new Set(['llm', 'mcp', 'credentials'])
    const isApart = (file: string, to: string): boolean => apart.has(folderOf(to)) && folderOf(file) !== folderOf(to)
    expectNone((file, { to }) => apart.has(folderOf(file)) && isApart(file, to))
    expectNone((file, { to }) => folderOf(file) === 'credentials' && isOutermost(to))
    // A provider is described and made there; the backend only calls it.
    expectNone((file, { to }) => folderOf(file) === 'llm' && folderOf(to) === 'backends')
  })

  it('features do not import the behaviour of one another', () => {
    expectNone(
      (file, { to }) =>
        isOutermost(file) &&
        isOutermost(to) &&
        featureOf(file) !== featureOf(to) &&
        !isSchema(to) &&
        file !== 'policies/order.ts',
    )
  })

  it('only what puts a config together and the process around it see what features do', () => {
    const top = new Set(['compile', 'process'])
    // The pages of the docs print the order.
    const isPrinting = (file: string, to: string): boolean =>
      folderOf(file) === 'generate' && to === 'policies/order.ts'
    // Each policy explains its own decisions; the table of reasons names all of them.
    const isTable = (file: string, to: string): boolean => file === 'explain/explain.ts' && to.endsWith('/explain.ts')
    expectNone(
      (file, { to }) =>
        isOutermost(to) &&
        !isSchema(to) &&
        !top.has(folderOf(file)) &&
        !isOutermost(file) &&
        !isPrinting(file, to) &&
        !isTable(file, to),
    )
  })

  it('code in compile/ does not import the request context', () => {
    const isOfRequests = ({ to, names }: Import): boolean =>
      to === 'pipeline/context/request-context.ts' || (to === '@portico/http' && names.includes('Exchange'))
    expectNone((file, found) => folderOf(file) === 'compile' && isOfRequests(found))
  })

  it('in the HTTP engine, the server side knows nothing of the client side, and both stand on the protocols', () => {
    const engine = graphByPackage.get('http') ?? assert.fail('there is no packages/http')
    const found = [...engine].flatMap(([file, imports]) =>
      imports.filter(({ to }) => isAbove(folderOf(file), folderOf(to))).map(({ to }) => `${file} imports ${to}`),
    )
    assert.deepEqual(found, [])
  })

  it('workers load neither zod nor yaml, nor what checks expressions', () => {
    const loaded = reachable('process/workers/worker.ts')
    assert.deepEqual(
      [...loaded].filter((name) => ['zod', 'yaml', '@portico/cel/check'].includes(name) || isSchema(name)),
      [],
    )
  })

  it('a worker loads the translator of model APIs only for a config with language models', () => {
    const ofChat = (loaded: Set<string>): string[] => [...loaded].filter((name) => name.startsWith('@portico/chat'))
    assert.deepEqual(ofChat(reachable('process/workers/worker.ts', ({ isDynamic }) => !isDynamic)), [])
    assert.ok(ofChat(reachable('process/workers/worker.ts')).includes('@portico/chat'))
  })

  it('a start without a controller loads nothing of what speaks to one', () => {
    const loaded = reachable('process/cli/start.ts', ({ isDynamic }) => !isDynamic)
    assert.ok(loaded.has('process/cli/serve.ts'))
    assert.deepEqual(
      [...loaded].filter(
        (file) =>
          folderOf(file) === 'stream' ||
          /^(sources\/controller\/.*|process\/controller\/controlled-gateway\.ts)$/.test(file),
      ),
      [],
    )
  })

  it('packages stand on one another in one order', () => {
    const known: Readonly<Record<string, readonly string[]>> = {
      cel: ['regex'],
      http: [],
      chat: ['http'],
      gateway: ['cel', 'chat', 'regex', 'http'],
      translate: ['gateway', 'http'],
      controller: ['translate', 'gateway', 'http'],
      // Texts of other gateways become texts of ours; the gateway that runs them is not needed.
      import: ['regex'],
      // The client of the API server, and nothing else of the controller.
      ctl: ['controller', 'import', 'translate', 'gateway', 'http'],
      // The types of the admin API, and nothing else of the gateway.
      ui: ['gateway', 'http'],
    }
    const found = [...graphByPackage].flatMap(([name, graph]) =>
      [...graph].flatMap(([file, imports]) =>
        imports
          .filter(({ to }) => to.startsWith('../../') || to.startsWith('@portico/'))
          .filter(({ to }) => !(known[name] ?? []).includes(to.replace('../../', '@portico/').split('/')[1] ?? ''))
          // A module of its own: JSON of clients is parsed as expressions parse it.
          .filter(({ to }) => !(name === 'http' && to === '@portico/cel/safe-json'))
          // Loaded by those who run manifests, and by nobody else.
          .filter(({ to }) => !(name === 'gateway' && /^sources\/manifest/.test(file) && to === '@portico/translate'))
          .map(({ to }) => `${name}/src/${file} imports ${to}`),
      ),
    )
    assert.deepEqual(found, [])
  })

  for (const [name, graph] of graphByPackage) {
    it(`${name} has no cycles, of types neither`, () => {
      assert.ok(graph.size > 0)
      assert.deepEqual(cycles(graph), [])
    })

    it(`${name} has no cycles between folders, at any level`, () => {
      assert.deepEqual(folderCycles(graph), [])
    })
  }
})

/** No folder has more source files, so that a newcomer finds a file by its name. Tests do not count. */
const MOST_FILES = 25

describe('folders', () => {
  it(`have at most ${MOST_FILES} source files`, () => {
    const root = join(packagesRoot, '..')
    const sources = [...graphByPackage.keys()].map((name) => `packages/${name}/src`)
    const counts = new Map<string, number>()
    for (const top of [...sources, 'bench', 'scripts', 'site']) {
      for (const file of readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })) {
        if (!/\.(tsx?|mjs|js)$/.test(file) || /\.test\.|(^|\/)(node_modules|dist)\//.test(file)) continue
        const folder = dirname(join(top, file))
        counts.set(folder, (counts.get(folder) ?? 0) + 1)
      }
    }
    assert.ok(counts.size > 100)
    const found = [...counts].filter(([, count]) => count > MOST_FILES)
    assert.deepEqual(found, [], 'sort the files into folders by task')
  })
})

function expectNone(isForbidden: (file: string, found: Import) => boolean): void {
  const found = [...importsByFile].flatMap(([file, imports]) =>
    imports.filter((entry) => isForbidden(file, entry)).map((entry) => `${file} imports ${entry.to}`),
  )
  assert.deepEqual(found, [])
}

function reachable(
  start: string,
  counts: (found: Import) => boolean = () => true,
  graph: ImportGraph = importsByFile,
): Set<string> {
  const seen = new Set<string>()
  const visit = (file: string): void => {
    for (const found of graph.get(file) ?? []) {
      const { to, typeOnly } = found
      if (typeOnly || seen.has(to) || !counts(found)) continue
      seen.add(to)
      visit(to)
    }
  }
  visit(start)
  return seen
}

function cycles(graph: ImportGraph): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) {
      found.push([...path.slice(path.indexOf(file)), file].join(' → '))
      return
    }
    if (done.has(file)) return
    for (const { to } of graph.get(file) ?? []) {
      if (graph.has(to)) visit(to, [...path, file])
    }
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return found
}
