import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Json, JsonObject } from '@portico/http/json'
import type { McpItem } from '../../records/mcp-record.ts'
import { makeMessage, type RpcMessage } from '../protocol.ts'
import { Namer } from '../names.ts'
import { Clash, Owners } from '../owners.ts'
import type { TargetFailure } from '../transport.ts'
import { type FetchPage, MergeError } from './gather.ts'
import { exposeResult } from './list-page.ts'
import { type ListMethod, lists } from './item-methods.ts'
import { gatherLists, type ListOptions, mergeLists } from './merge-lists.ts'
import { hostileObject, messageOf, responseOf } from './test-messages.ts'

const TARGETS = ['a', 'b', 'c']

function options(more: Partial<ListOptions> = {}): ListOptions {
  const namer = new Namer(TARGETS, 'Conditional')
  return {
    namer,
    failureMode: 'FailClosed',
    keeps: null,
    gateway: { name: 'portico', version: '1' },
    owners: null,
    ...more,
  }
}

/** Each target has its pages, by their number as cursor. */
function pagesOf(pages: Record<string, JsonObject[] | RpcMessage | TargetFailure>): FetchPage {
  return async (target, cursor) => {
    const own = pages[target] ?? []
    if (!Array.isArray(own)) return own
    const at = Number(cursor ?? 0)
    const next: JsonObject = at + 1 < own.length ? { nextCursor: String(at + 1) } : {}
    return responseOf({ ...(own[at] ?? { tools: [] }), ...next })
  }
}

const tools = (...names: string[]): JsonObject => ({ tools: names.map((name): Json => ({ name, x: { kept: true } })) })
const gather = (
  pages: Parameters<typeof pagesOf>[0],
  more: Partial<ListOptions> = {},
  method: ListMethod = 'tools/list',
) => gatherLists(method, TARGETS, pagesOf(pages), options(more))

async function namesOf(pages: Parameters<typeof pagesOf>[0], more: Partial<ListOptions> = {}): Promise<string[]> {
  const merged = await gather(pages, more)
  assert.ok(!(merged instanceof MergeError))
  return (merged.result.tools as { name: string }[]).map(({ name }) => name)
}

async function errorOf(pages: Parameters<typeof pagesOf>[0], more: Partial<ListOptions> = {}): Promise<MergeError> {
  const merged = await gather(pages, more)
  assert.ok(merged instanceof MergeError)
  return merged
}

const noSuchMethod = messageOf('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}')
const broken = messageOf('{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"out of order","data":{"x":1}}}')
const gone: TargetFailure = { code: 'unavailable', message: 'connection refused' }

test('all pages of all targets, in the order of the targets', async () => {
  const names = await namesOf({ a: [tools('x', 'y'), tools('z')], b: [tools(), tools('x')], c: [tools('w')] })
  assert.deepEqual(names, ['a_x', 'a_y', 'a_z', 'b_x', 'c_w'])
})

test('a merged list has no cursor, and keeps what targets say of each item', async () => {
  const merged = await gather({ a: [tools('x'), tools('y')] })
  assert.ok(!(merged instanceof MergeError))
  assert.deepEqual(merged.result, {
    tools: [
      { name: 'a_x', x: { kept: true } },
      { name: 'a_y', x: { kept: true } },
    ],
  })
})

test('each list has its own names: URIs, templates, prompts, ids', async () => {
  const cases: [ListMethod, JsonObject, JsonObject][] = [
    ['prompts/list', { prompts: [{ name: 'p' }] }, { prompts: [{ name: 'a_p' }] }],
    ['resources/list', { resources: [{ uri: 'f:x', name: 'x' }] }, { resources: [{ uri: 'a+f:x', name: 'x' }] }],
    [
      'resources/templates/list',
      { resourceTemplates: [{ uriTemplate: 'f:{x}' }] },
      { resourceTemplates: [{ uriTemplate: 'a+f:{x}' }] },
    ],
    [
      'skills/list',
      { skills: [{ uri: 's:x', resources: [{ uri: 's:x/y' }] }] },
      { skills: [{ uri: 'a+s:x', resources: [{ uri: 'a+s:x/y' }] }] },
    ],
    ['tasks/list', { tasks: [{ taskId: '7', status: 'working' }] }, { tasks: [{ taskId: 'a+7', status: 'working' }] }],
  ]
  for (const [method, page, expected] of cases) {
    const merged = await gather({ a: [page], b: noSuchMethod, c: [{}] }, {}, method)
    assert.ok(!(merged instanceof MergeError))
    assert.deepEqual(merged.result, expected)
  }
})

test('a target without such a list adds nothing; when none has one, that is the answer', async () => {
  assert.deepEqual(await namesOf({ a: [tools('x')], b: noSuchMethod, c: noSuchMethod }), ['a_x'])
  assert.equal((await errorOf({ a: noSuchMethod, b: noSuchMethod, c: noSuchMethod })).code, -32601)
})

test('FailClosed: one target that fails fails the list, and is named', async () => {
  const failed = await errorOf({ a: [tools('x')], b: broken, c: gone })
  assert.deepEqual(
    failed,
    new MergeError('b', -32000, 'b: out of order', {
      data: { x: 1 },
      failure: { target: 'b', cause: 'error_response', status: null },
    }),
  )
  const lost = await errorOf({ a: [tools('x')], c: gone })
  assert.deepEqual([lost.target, lost.code, lost.message], ['c', -32603, 'c: connection refused'])
})

test('FailOpen: a target that fails is left out, also in the middle of its pages', async () => {
  const failsLater: FetchPage = async (target, cursor) => {
    if (target === 'a') return cursor === null ? responseOf({ ...tools('x'), nextCursor: '1' }) : gone
    return responseOf(tools('y'))
  }
  const merged = await gatherLists('tools/list', TARGETS, failsLater, options({ failureMode: 'FailOpen' }))
  assert.ok(!(merged instanceof MergeError))
  assert.deepEqual(
    merged.kept.map(({ target, name }) => `${target} ${name}`),
    ['b y', 'c y'],
  )
  assert.deepEqual(
    merged.failures.map(({ message }) => message),
    ['a: connection refused'],
  )
  const all = await errorOf({ a: gone, b: noSuchMethod, c: broken }, { failureMode: 'FailOpen' })
  assert.equal(all.target, 'a')
})

test('lists without an end are an error that says so', async () => {
  const forever: FetchPage = async (_target, cursor) =>
    responseOf({ tools: [], nextCursor: `${Number(cursor ?? 0) + 1}` })
  const endless = await gatherLists('tools/list', ['a'], forever, options())
  assert.ok(endless instanceof MergeError)
  assert.match(endless.message, /^a: tools\/list has more than 64 pages$/)
  const circle: FetchPage = async () => responseOf({ tools: [], nextCursor: 'same' })
  const circling = await gatherLists('tools/list', ['a'], circle, options())
  assert.ok(circling instanceof MergeError)
  assert.match(circling.message, /repeats the cursor/)
  const many = tools(...Array.from({ length: 5_001 }, (_, at) => `t${at}`))
  assert.match((await errorOf({ a: [many], b: [many] })).message, /more than 10000 items together/)
})

test('items that rules deny are left out, and so are links to them', async () => {
  const link = (name: string, uri: string): JsonObject => ({
    name,
    _meta: { ui: { resourceUri: uri, more: 1 }, 'ui/resourceUri': uri, 'openai/outputTemplate': uri, other: uri },
  })
  const keeps = ({ name }: McpItem) => !name.includes('secret')
  const merged = await gather(
    { a: [{ tools: [link('x', 'ui://x'), link('y', 'ui://secret')] }], b: [tools('secret')] },
    { keeps },
  )
  assert.ok(!(merged instanceof MergeError))
  assert.deepEqual(merged.result.tools, [
    {
      name: 'a_x',
      _meta: {
        ui: { resourceUri: 'ui://a+x', more: 1 },
        'ui/resourceUri': 'ui://a+x',
        'openai/outputTemplate': 'ui://a+x',
        other: 'ui://x',
      },
    },
    { name: 'a_y', _meta: { ui: { more: 1 }, other: 'ui://secret' } },
  ])
  assert.deepEqual(merged.hidden, [{ kind: 'tool', name: 'secret', target: 'b' }])
})

test('Never: a name of two targets is left out, and the rest of the list is there', async () => {
  const namer = new Namer(TARGETS, 'Never')
  const owners = new Owners()
  const pages = { a: [tools('x', 'z')], b: [tools('y'), tools('x')] }
  const merged = await gather(pages, { namer, owners })
  assert.ok(!(merged instanceof MergeError))
  assert.deepEqual(await namesOf(pages, { namer, owners }), ['z', 'y'])
  assert.deepEqual(
    merged.clashes.map(({ message }) => message),
    ['a and b both have a tool "x": with prefixMode Never, names must be unique'],
  )
  assert.deepEqual(owners.find('tool', 'x'), new Clash('a', 'b'))
  assert.deepEqual(await namesOf({ a: [tools('x')], b: [tools('y')] }, { namer, owners }), ['x', 'y'])
  assert.deepEqual(owners.find('tool', 'y'), { target: 'b', name: 'y' })
})

test('Never: what rules keep from the caller clashes with nothing', async () => {
  const namer = new Namer(TARGETS, 'Never')
  const owners = new Owners()
  const keeps = ({ target }: McpItem) => target !== 'a'
  assert.deepEqual(await namesOf({ a: [tools('x')], b: [tools('x')] }, { namer, owners, keeps }), ['x'])
  assert.deepEqual(owners.find('tool', 'x'), { target: 'b', name: 'x' })
})

test('the shortest life, for this caller only; what else results say is put together', async () => {
  const merged = await gather({
    a: [
      {
        ...tools('x'),
        ttlMs: 500,
        cacheScope: 'public',
        resultType: 'complete',
        _meta: { one: 1, both: 'a', 'io.modelcontextprotocol/serverInfo': { name: 'A' } },
      },
    ],
    b: [{ ...tools(), ttlMs: 300, cacheScope: 'public', _meta: { both: 'b' } }],
    c: [{ ...tools(), ttlMs: 400 }],
  })
  assert.ok(!(merged instanceof MergeError))
  const { tools: _, ...rest } = merged.result
  assert.deepEqual(rest, {
    _meta: { one: 1, both: 'b', 'io.modelcontextprotocol/serverInfo': { name: 'portico', version: '1' } },
    resultType: 'complete',
    ttlMs: 300,
    cacheScope: 'private',
  })
})

test('numbers keep their digits', async () => {
  const text = '{"tools":[{"name":"x","inputSchema":{"maximum":9007199254740993,"minimum":-1.5e400}}]}'
  const merged = await gather({ a: messageOf(`{"jsonrpc":"2.0","id":1,"result":${text}}`) })
  assert.ok(!(merged instanceof MergeError))
  const made = makeMessage({ jsonrpc: '2.0', id: 1, result: merged.result })
  assert.equal(made.bytes.toString(), `{"jsonrpc":"2.0","id":1,"result":${text.replace('"x"', '"a_x"')}}`)
})

test('a page of a target that stands alone keeps its cursor and all that it says', () => {
  const namer = new Namer(['a'], 'Always')
  const page = {
    tools: [{ name: 'x' }, { name: 'secret' }],
    nextCursor: 'n',
    ttlMs: 5,
    cacheScope: 'public',
    _meta: { y: 1 },
  }
  assert.deepEqual(exposeResult('tools/list', 'a', page, namer, null).result, {
    ...page,
    tools: [{ name: 'a_x' }, { name: 'a_secret' }],
  })
  // A page that rules filtered for one caller must not be cached for another.
  const filtered = exposeResult('tools/list', 'a', page, namer, ({ name }) => name !== 'secret')
  assert.deepEqual(filtered.result, { ...page, tools: [{ name: 'a_x' }], cacheScope: 'private' })
})

test('hostile lists are never an error of ours, and every item that stays has a name', () => {
  const methods = Object.keys(lists) as ListMethod[]
  fc.assert(
    fc.property(fc.constantFrom(...methods), fc.array(hostileObject, { maxLength: 3 }), (method, results) => {
      const gathered = results.map((result, at) => ({ target: TARGETS[at]!, pages: [result] }))
      const merged = mergeLists(method, gathered, options({ keeps: ({ name }) => name.length % 2 === 0 }))
      assert.ok(!(merged instanceof MergeError))
      const items = merged.result[lists[method].items]
      assert.ok(Array.isArray(items) && items.length === merged.kept.length)
      makeMessage({ jsonrpc: '2.0', id: 1, result: merged.result })
    }),
    { seed: 5, numRuns: 1000 },
  )
})
