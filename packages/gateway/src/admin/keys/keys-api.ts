import type { IncomingMessage } from 'node:http'
import type { KeyAction, KeyQuestion, KeyRefusal, TeamAction } from '../../keys/key-messages.ts'
import { readKeyPatch, readNewKey, readNewTeam, readRotation, readTeamPatch } from '../../keys/read-key-input.ts'
import { readPrice, readPriceName } from '../../keys/read-price-input.ts'
import type { ModelPriceConfig } from '../../schema/fields/prices.ts'
import type { AdminCaller } from '../credentials.ts'
import { pathOf, queryOf, type Reply, text } from '../http.ts'
import { authorOf } from './author.ts'
import type { KeysSource } from './keys-routes.ts'
import type {
  AuditView,
  ChangedKeyView,
  ChangedPriceView,
  KeyListView,
  PriceListView,
  TeamListView,
  TeamView,
} from './keys-view.ts'
import { readJson } from '../read-json.ts'
import { readChangeSearch, readKeySearch } from './read-search.ts'
import { viewKey, viewPrice, viewTeam } from './view-key.ts'

/** Answers requests about keys, teams, prices and the list of their changes. The guard has authorized the caller. */
export async function answerKeysApi(
  request: IncomingMessage,
  source: KeysSource | null,
  caller: AdminCaller,
): Promise<Reply> {
  if (source === null) return text(400, 'the gateway keeps no keys: set config.keys and config.stateDir\n')
  const [, kind, name, action, extra] = PATH.exec(pathOf(request) ?? '') ?? []
  if (extra !== undefined || (kind !== 'keys' && action !== undefined)) return text(404, 'not found\n')
  const call: Call = { request, source, by: authorOf(caller, request), name: name ?? '', method: request.method ?? '' }
  if (kind === 'audit') return name === undefined ? allow(call, { GET: listChanges }) : text(404, 'not found\n')
  if (kind === 'prices') return name === undefined ? allow(call, PRICES) : text(404, 'not found\n')
  if (kind === 'teams') return name === undefined ? allow(call, TEAMS) : allow(call, TEAM)
  if (name === undefined) return allow(call, KEYS)
  if (action === undefined) return allow(call, KEY)
  const answer = ACTIONS.get(action)
  return answer === undefined ? text(404, 'not found\n') : allow(call, { POST: answer })
}

/** `/api/keys`, `/api/keys/<name>`, `/api/keys/<name>/<action>`; the same for teams and the audit list. */
const PATH = /^\/api\/(keys|teams|prices|audit)(?:\/([A-Za-z0-9][\w.-]*))?(?:\/([a-z]+))?(\/.*)?$/

interface Call {
  readonly request: IncomingMessage
  readonly source: KeysSource
  /** For the audit entry of a change. */
  readonly by: string
  readonly name: string
  readonly method: string
}

type Handler = (call: Call) => Promise<Reply>

function allow(call: Call, handlers: Readonly<Record<string, Handler>>): Promise<Reply> | Reply {
  const { method } = call
  const handler = handlers[method === 'HEAD' ? 'GET' : method]
  return handler?.(call) ?? text(405, 'method not allowed\n', { allow: Object.keys(handlers).join(', ') })
}

const KEYS: Readonly<Record<string, Handler>> = {
  async GET({ request, source }) {
    const search = readKeySearch(queryOf(request))
    if (typeof search === 'string') return text(400, `${search}\n`)
    const answer = await source.ask({ ask: 'keys', search })
    if ('refused' in answer) return refused(answer.refused)
    const { keys, next } = answer.value
    return json({ keys: await Promise.all(keys.map((key) => viewKey(key, source))), next } satisfies KeyListView)
  },
  async POST(call) {
    const body = await readJson(call.request, MOST_BYTES)
    if ('refused' in body) return body.refused
    const read = readNewKey(body.value)
    return 'problem' in read
      ? text(400, `${read.problem}\n`)
      : changeKey({ ...call, name: read.name }, read.change, 201)
  },
}

const KEY: Readonly<Record<string, Handler>> = {
  async GET({ source, name }) {
    const answer = await source.ask({ ask: 'key', name })
    if ('refused' in answer) return refused(answer.refused)
    return answer.value === null ? text(404, `there is no key ${name}\n`) : json(await viewKey(answer.value, source))
  },
  async PATCH(call) {
    const body = await readJson(call.request, MOST_BYTES)
    if ('refused' in body) return body.refused
    const read = readKeyPatch(body.value)
    return 'problem' in read ? text(400, `${read.problem}\n`) : changeKey(call, read.change)
  },
  DELETE: (call) => changeKey(call, { action: 'delete' }),
}

const ACTIONS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['enable', (call) => changeKey(call, { action: 'enable' })],
  ['disable', (call) => changeKey(call, { action: 'disable' })],
  ['revoke', (call) => changeKey(call, { action: 'revoke' })],
  [
    'rotate',
    async (call) => {
      const body = hasBody(call.request) ? await readJson(call.request, MOST_BYTES) : { value: {} }
      if ('refused' in body) return body.refused
      const read = readRotation(body.value)
      return 'problem' in read ? text(400, `${read.problem}\n`) : changeKey(call, read.change)
    },
  ],
])

const TEAMS: Readonly<Record<string, Handler>> = {
  async GET({ source }) {
    const answer = await source.ask({ ask: 'teams' })
    if ('refused' in answer) return refused(answer.refused)
    const teams = await Promise.all(answer.value.map((team) => viewTeam(team, source)))
    return json({ teams } satisfies TeamListView)
  },
  async POST(call) {
    const body = await readJson(call.request, MOST_BYTES)
    if ('refused' in body) return body.refused
    const read = readNewTeam(body.value)
    return 'problem' in read
      ? text(400, `${read.problem}\n`)
      : changeTeam({ ...call, name: read.name }, read.change, 201)
  },
}

const TEAM: Readonly<Record<string, Handler>> = {
  async GET({ source, name }) {
    const answer = await source.ask({ ask: 'team', name })
    if ('refused' in answer) return refused(answer.refused)
    return answer.value === null ? text(404, `there is no team ${name}\n`) : json(await viewTeam(answer.value, source))
  },
  async PATCH(call) {
    const body = await readJson(call.request, MOST_BYTES)
    if ('refused' in body) return body.refused
    const read = readTeamPatch(body.value)
    return 'problem' in read ? text(400, `${read.problem}\n`) : changeTeam(call, read.change)
  },
  DELETE: (call) => changeTeam(call, { action: 'delete' }),
}

const PRICES: Readonly<Record<string, Handler>> = {
  async GET({ source }) {
    const answer = await source.ask({ ask: 'prices' })
    return 'refused' in answer
      ? refused(answer.refused)
      : json({ prices: answer.value.map(viewPrice) } satisfies PriceListView)
  },
  async POST(call) {
    const body = await readJson(call.request, MOST_BYTES)
    if ('refused' in body) return body.refused
    const read = readPrice(body.value)
    return 'problem' in read ? text(400, `${read.problem}\n`) : changePrice({ ...call, name: read.name }, read.price)
  },
  async DELETE(call) {
    const name = readPriceName(queryOf(call.request))
    return typeof name === 'string' ? changePrice({ ...call, name }, null) : text(400, `${name.problem}\n`)
  },
}

async function listChanges({ request, source }: Call): Promise<Reply> {
  const search = readChangeSearch(queryOf(request))
  if (typeof search === 'string') return text(400, `${search}\n`)
  const answer = await source.ask({ ask: 'audit', search })
  return 'refused' in answer ? refused(answer.refused) : json(answer.value satisfies AuditView)
}

async function changeKey({ source, name, by }: Call, change: KeyAction, status = 200): Promise<Reply> {
  const question: KeyQuestion & { ask: 'changeKey' } = { ask: 'changeKey', name, change, by }
  const answer = await source.ask(question)
  if ('refused' in answer) return refused(answer.refused)
  const { key, secret } = answer.value
  const changed: ChangedKeyView = { key: key === null ? null : await viewKey(key, source), secret }
  return json(changed, status)
}

async function changeTeam({ source, name, by }: Call, change: TeamAction, status = 200): Promise<Reply> {
  const question: KeyQuestion & { ask: 'changeTeam' } = { ask: 'changeTeam', name, change, by }
  const answer = await source.ask(question)
  if ('refused' in answer) return refused(answer.refused)
  const team: TeamView | null = answer.value === null ? null : await viewTeam(answer.value, source)
  return json({ team }, status)
}

async function changePrice({ source, name, by }: Call, price: ModelPriceConfig | null): Promise<Reply> {
  const question: KeyQuestion & { ask: 'changePrice' } = { ask: 'changePrice', name, price, by }
  const answer = await source.ask(question)
  if ('refused' in answer) return refused(answer.refused)
  return json({ price: answer.value === null ? null : viewPrice(answer.value) } satisfies ChangedPriceView)
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

function refused({ status, message }: KeyRefusal): Reply {
  return text(status, `${message}\n`)
}

function json(value: object, status = 200): Reply {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}

const MOST_BYTES = 65_536
