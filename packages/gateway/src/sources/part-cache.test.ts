import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { canRun, checkCompile, checkServices } from '../compile/check.ts'
import { compile, type CompiledConfig, type Previous } from '../compile/index.ts'
import { applyChange, changeBetween, type ChangedIr, type IrChange } from '../ir/change.ts'
import type { Ir } from '../ir/resources.ts'
import { makeRequest } from '../pipeline/route/test-routes.ts'
import { Reservations } from '../state/reservations.ts'
import { createTable, SharedTable } from '../state/shared-table.ts'
import { cutLists } from './cut-lists.ts'
import { type CheckableConfig, loadConfig, type LoadOptions } from './file.ts'
import { PartCache } from './part-cache.ts'
import '../testing/all-features.ts'

test('a config that is edited step by step is what each text says by itself', (t) => {
  const { services, close } = checkServices()
  t.after(close)
  const reached = { live: 0, refused: 0, faults: 0, warnings: 0, quick: 0 }
  fc.assert(
    fc.property(fc.array(edits, { minLength: 3, maxLength: 12 }), (steps) => {
      const known = new PartCache()
      const document = new Document()
      let live: { ir: Ir; config: CompiledConfig } | null = null
      for (const step of steps) {
        step(document)
        const text = document.text()
        const options = document.options()
        const loaded = loadConfig(text, options, known)
        const fresh = loadConfig(text, options)
        assert.equal(loaded.ok, fresh.ok, text)
        if (!loaded.ok || !fresh.ok) {
          assert.ok(!loaded.ok && !fresh.ok)
          assert.deepEqual(loaded.problems, fresh.problems, text)
          assert.deepEqual(loaded.files, fresh.files)
          assert.deepEqual(faultsOf(loaded.rest ?? null), faultsOf(fresh.rest ?? null), text)
          reached.refused++
          continue
        }
        assert.deepEqual(loaded.ir, fresh.ir, text)
        assert.deepEqual(loaded.warnings, fresh.warnings, text)
        assert.deepEqual([loaded.files, loaded.process], [fresh.files, fresh.process])
        reached.warnings += loaded.warnings.length
        if (cutLists(text) !== null && known.read(text, 'gateway.yaml', options.env) !== null) reached.quick++
        const faults = faultsOf(fresh)
        assert.deepEqual(faultsOf(loaded), faults, text)
        const change: IrChange | null = live === null ? null : changeBetween(live.ir, loaded.ir)
        const changed: ChangedIr | null =
          live === null || change === null ? null : applyChange(live.ir, structuredClone(change))
        if (changed !== null) {
          assert.deepEqual(changed.ir, fresh.ir, text)
          const counters = new Reservations(new SharedTable(createTable(1024)))
          assert.equal(canRun(changed, counters, 1), faults.length === 0, `${faults.join('\n')}\n${text}`)
        }
        if (faults.length > 0) {
          reached.faults++
          continue
        }
        const ir: Ir = changed?.ir ?? loaded.ir
        const previous: Previous | null = live === null ? null : { config: live.config, changed }
        live = { ir, config: compile(ir, services, previous) }
        compareRouting(live.config, compile(fresh.ir, services, null), text)
        reached.live++
      }
    }),
    // The cases are counted, so that none is left out to save time.
    { seed: 11, numRuns: 50, interruptAfterTimeLimit: 120_000 },
  )
  for (const [what, times] of Object.entries(reached)) assert.ok(times >= 10, `${what}: ${times} times`)
})

function faultsOf(config: CheckableConfig | null): string[] {
  return config === null ? ['nothing is left'] : checkCompile(config.ir).map(config.explain)
}

function compareRouting(one: CompiledConfig, other: CompiledConfig, text: string): void {
  assert.deepEqual([...one.listeners.keys()], [...other.listeners.keys()])
  for (const [key, listener] of one.listeners) {
    for (const host of ['a.example', 'x.b.example', '']) {
      for (const path of ['/r0', '/r1/x', '/r2', '/r3', '/r4', '/dup', '/other']) {
        const request = makeRequest({ host, path, method: 'GET' })
        const [found, expected] = [listener, other.listeners.get(key)!].map((each) => each.routes.explain(request))
        assert.deepEqual(found!.evaluated, expected!.evaluated, text)
        assert.equal(found!.found?.matchIndex, expected!.found?.matchIndex)
        const [route, wanted] = [found!.found?.value, expected!.found?.value]
        assert.equal(route?.key, wanted?.key)
        assert.deepEqual(route?.effectivePolicy, wanted?.effectivePolicy, text)
        assert.deepEqual(
          route?.backends.map(({ key: backend, name }) => [backend, name]),
          wanted?.backends.map(({ key: backend, name }) => [backend, name]),
        )
      }
    }
  }
}

type Edit = (document: Document) => void

/** A config as people write and edit it: lists of texts, a style, and now and then a slip. */
class Document {
  routes: string[][] = [routeText(0, 1), routeText(1, 2), routeText(2, 3)]
  backends: string[][] = [
    ['name: main', 'static: { host: 127.0.0.1, port: 9000 }'],
    ['name: idp', 'static:', '  host: 127.0.0.1', '  port: 9001'],
  ]
  policies: string[][] = []
  listener: string[] = []
  /** Spaces before the dashes of lists, and comments between items. */
  dent = 0
  comments = false
  head: string[] = []
  /** Done to the finished text once. */
  slip: ((text: string) => string) | null = null
  env: Record<string, string> = { HOST: '127.0.0.1:9005' }
  file = 'user: a-key-of-somebody\n'

  text(): string {
    const lists = [
      ...this.head,
      ...listOf('backends', this.backends, { dent: this.dent, comments: this.comments }),
      ...listOf('policies', this.policies, { dent: this.dent, comments: false }),
      'binds:',
      '- port: 8080',
      '  listeners:',
      '  - name: web',
      ...this.listener.map((line) => `    ${line}`),
      ...listOf('routes', this.routes, { dent: this.dent, comments: this.comments }).map((line) => `    ${line}`),
      '  - name: other',
      '    hostname: "*.b.example"',
      ...listOf('routes', this.routes.slice(0, 1), { dent: 2, comments: false }).map((line) => `    ${line}`),
      '# the end',
    ]
    const text = `${lists.join('\n')}\n`
    const { slip } = this
    this.slip = null
    return slip === null ? text : slip(text)
  }

  options(): LoadOptions {
    const { file } = this
    return { file: 'gateway.yaml', dir: '/etc/portico', env: this.env, readFile: () => file }
  }
}

function listOf(key: string, items: readonly string[][], style: { dent: number; comments: boolean }): string[] {
  if (items.length === 0) return []
  const dent = ' '.repeat(style.dent)
  return [
    `${key}: # a list`,
    ...items.flatMap(([first, ...rest], index) => [
      ...(style.comments ? [`${dent}# item ${index}`, '', `# far left`] : []),
      `${dent}- ${first}`,
      ...rest.map((line) => `${dent}  ${line}`),
    ]),
  ]
}

/** A route in one of the ways in which routes are written. */
function routeText(id: number, way: number): string[] {
  const name = [`name: r${id}`]
  const match = ['matches:', `- path: { pathPrefix: /r${id} }`]
  const ways: string[][] = [
    [...name, ...match],
    [...name, ...match, 'backends:', '- backend: main'],
    [...name, ...match, 'backends:', '  - host: 127.0.0.1:9000', '    weight: 2', '  - { backend: idp, weight: 1 }'],
    [
      ...match,
      'policies:',
      '  directResponse:',
      '    status: 200',
      '    body: |',
      '      - not a route',
      '',
      '      # body',
    ],
    [...name, ...match, 'policies:', '  directResponse: { status: 200, body: "${HOST}" }'],
    [...name, 'hostnames: [a.example]', ...match, 'backends: [{ host: "${HOST:-127.0.0.1:1}" }]'],
    [
      ...name,
      ...match,
      'policies:',
      '  apiKeyAuthentication: { secretRef: { file: keys.yaml } }',
      'backends:',
      '- backend: main',
    ],
    [
      ...name,
      'labels: { team: a }',
      ...match,
      '- path: { exact: /other }',
      '  method: GET',
      'policies:',
      '  requestMirror: { backend: { name: idp } }',
      'backends:',
      '- backend: main',
    ],
    [
      ...name,
      ...match,
      'policies:',
      '  authorization:',
      '    rules:',
      '    - deny: request.headers["x"] == "1"',
      'backends:',
      '- backend: main',
    ],
    [...name, ...match, 'policies:', '  timeouts: &limit { request: 5s }', 'backends:', '- backend: main'],
    [...name, ...match, 'policies:', '  timeouts: *limit', 'backends:', '- backend: main'],
    [...name, '# within', ...match, 'backends: [', '  { backend: main }', ']'],
    // Invalid routes.
    [...name, ...match, 'backends:', '- backend: nowhere'],
    [...name, ...match, 'backend:', '- backend: main'],
    [...name, 'matches: 1'],
    [...name, ...match, 'backends:', '- host: 127.0.0.1:9000', '  policies: { tunnel: { backendRef: { name: idp } } }'],
    [
      ...name,
      ...match,
      'policies:',
      '  apiKeyAuthentication: { secretRef: { data: { a: the-same-key, b: the-same-key } } }',
      'backends:',
      '- backend: main',
    ],
    ['name: dup', 'matches:', '- path: { exact: /dup }', 'backends:', '- backend: main'],
  ]
  return ways[way % ways.length]!
}

const POLICIES: string[][] = [
  ['name: p1', 'targetRefs: [{ kind: Route, name: r1 }]', 'traffic:', '  timeouts: { request: 7s }'],
  [
    'name: p2',
    'targetSelectors:',
    '- kind: Route',
    '  matchLabels: { team: a }',
    'traffic:',
    '  timeouts: { request: 8s }',
  ],
  ['name: p3', 'targetRefs: [{ kind: Gateway, name: default }]', 'traffic:', '  timeouts: { request: 9s }'],
  ['name: p4', 'targetRefs: [{ kind: Backend, name: main }]', 'backend:', '  tcp: { connectTimeout: 3s }'],
  [
    'name: p5',
    'targetRefs: [{ kind: Gateway, name: default, sectionName: web }]',
    'traffic:',
    '  timeouts: { request: 6s }',
  ],
  ['name: p6', 'targetRefs: [{ kind: Route, name: nobody }]', 'traffic: {}'],
]

const LISTENER: string[][] = [
  [],
  ['hostname: a.example'],
  ['policies:', '  timeouts: { request: 4s }'],
  ['policies:', '  directResponse: { status: 404 }'],
  ['protocol: TCP'],
]

const HEADS: string[][] = [
  [],
  ['# a comment'],
  ['frontend:', '  http: { maxBufferSize: 1000000 }'],
  ['config: { workers: 3 }'],
  ['x: &limit { request: 3s }'],
  ['backends: []'],
]

const at = fc.nat(30)
/** Mostly good ones: a bad one stays until it is edited. */
const way = fc.oneof(
  { weight: 12, arbitrary: fc.nat(11) },
  { weight: 3, arbitrary: fc.constantFrom(15, 16, 16, 16, 17) },
  fc.nat(17),
)

const edits: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(at, at, way).map(([index, id, how]): Edit => insert('routes', index, routeText(id % 9, how))),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(at, at, way).map(([index, id, how]): Edit => replace('routes', index, routeText(id % 9, how))),
  },
  { weight: 4, arbitrary: at.map((index): Edit => remove('routes', index)) },
  { weight: 3, arbitrary: fc.tuple(at, at).map(([from, to]): Edit => move('routes', from, to)) },
  {
    weight: 2,
    arbitrary: fc.tuple(at, fc.nat(5)).map(([index, how]): Edit => insert('policies', index, POLICIES[how]!)),
  },
  { weight: 2, arbitrary: at.map((index): Edit => remove('policies', index)) },
  {
    weight: 2,
    arbitrary: fc
      .nat(3)
      .map((port): Edit => replace('backends', 1, ['name: idp', `static: { host: h, port: 900${port} }`])),
  },
  {
    weight: 1,
    arbitrary: fc.nat(4).map(
      (how): Edit =>
        (document) =>
          (document.listener = LISTENER[how]!),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat(5).map(
      (how): Edit =>
        (document) =>
          (document.head = HEADS[how]!),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(0, 1, 2, 4).map(
      (dent): Edit =>
        (document) =>
          (document.dent = dent),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.boolean().map(
      (has): Edit =>
        (document) =>
          (document.comments = has),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('127.0.0.1:9005', 'h:1', undefined).map((HOST): Edit => (document) => {
      document.env = HOST === undefined ? {} : { HOST }
    }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('user: a-key\n', 'user: another-key\n', '- nothing').map((file): Edit => (document) => {
      document.file = file
    }),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.nat(2_000),
        fc.nat(6),
        fc.constantFrom('', '\n', '\t', ' ', '  ', '- ', 'x: ', '"', '# ', '\r\n', '[', '&a ', '*a'),
      )
      .map(([index, length, added]): Edit => (document) => {
        document.slip = (text) => {
          const start = index % text.length
          return text.slice(0, start) + added + text.slice(start + length)
        }
      }),
  },
)

type List = 'routes' | 'backends' | 'policies'

function insert(list: List, index: number, item: string[]): Edit {
  return (document) => document[list].splice(index % (document[list].length + 1), 0, item)
}

function replace(list: List, index: number, item: string[]): Edit {
  return (document) => {
    if (document[list].length > 0) document[list][index % document[list].length] = item
  }
}

function remove(list: List, index: number): Edit {
  return (document) => document[list].splice(index % (document[list].length + 1), 1)
}

function move(list: List, from: number, to: number): Edit {
  return (document) => {
    const items = document[list]
    if (items.length > 0) items.splice(to % items.length, 0, ...items.splice(from % items.length, 1))
  }
}

test('only what has another text is read again, wherever it stands', () => {
  const known = new PartCache()
  const route = (name: string) => `  - name: ${name}\n    backends: [{ host: "h:1" }]\n`
  const textOf = (names: string[]) =>
    `# ${names.join()}\nbinds:\n- port: 1\n  listeners:\n  - routes:\n${names.map((name) => route(name).replaceAll(/^/gm, '  ').trimEnd()).join('\n')}\n`
  const load = (names: string[], env: Record<string, string> = {}): Ir => {
    const loaded = loadConfig(textOf(names), { file: 'f', dir: '/', env }, known)
    assert.ok(loaded.ok)
    return loaded.ir
  }
  const kept = (before: Ir, after: Ir) =>
    after.routes.filter((each) => before.routes.includes(each)).map(({ name }) => name)
  const first = load(['a', 'b', 'c'])
  const second = load(['x', 'c', 'a', 'y'])
  assert.deepEqual(kept(first, second), ['c', 'a'])
  assert.deepEqual(kept(second, load(['a', 'c'])), ['a', 'c'])
  // Another environment may give another meaning to every text.
  assert.deepEqual(kept(second, load(['a', 'c'], { A: '1' })), [])
})

test('a config with a warning costs no more than the part that it is about', () => {
  const routes = Array.from({ length: 2_000 }, (_, index) => [
    `    - name: r${index}`,
    `      matches: [{ path: { exact: /r${index} } }]`,
    ...(index === 1_234 ? [] : ['      backends: [{ host: "h:1" }]']),
  ])
  const text = ['binds:', '- port: 1', '  listeners:', '  - routes:', ...routes.flat(), ''].join('\n')
  const options = { file: 'f', dir: '/', env: {} }
  const loaded = loadConfig(text, options, new PartCache())
  const fresh = loadConfig(text, options)
  assert.ok(loaded.ok && fresh.ok)
  assert.deepEqual(loaded.warnings, fresh.warnings)
  assert.deepEqual(
    loaded.warnings.map(({ location }) => location),
    [{ file: 'f', line: 5 + 3 * 1_234, column: 7 }],
  )
})
