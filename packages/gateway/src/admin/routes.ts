import type { TextForm } from '../telemetry/metrics/metrics-collect.ts'
import type { IncomingMessage } from 'node:http'
import { getHeapStatistics } from 'node:v8'
import type { AdminCaller, AdminCredentials } from './credentials.ts'
import { type Endpoint, endpointScopes, READ, readEndpoints } from './endpoints.ts'
import { answerConfigApi, CONFIG_ROUTES, type ConfigSource } from './config-api.ts'
import { answerApply, answerCheck, answerHistory, HISTORY_ROUTES } from './config-edit-api.ts'
import { pathOf, queryOf, text } from './http.ts'
import type { Answer, Reply } from './http.ts'
import { answerMetricsApi, METRICS_ROUTES, type MetricsSource } from './metrics-api.ts'
import { answerQuestion, QUESTION_ROUTES, type QuestionSource } from './questions-api.ts'
import { answerApi, API_ROUTES, type RequestsSource } from './requests.ts'
import { isPage, SESSION_PATH } from './guard.ts'
import { createSendAnswer } from './send/answer-send.ts'
import type { Sessions } from './sessions.ts'
import { answerTrace, type TraceSource } from './trace.ts'
import { answerBacktest, type BacktestSource } from './backtest/backtest-api.ts'
import { answerCapsule, type CapsuleSource } from './capsules/capsule-api.ts'
import type { CacheSource } from './caches/cache-api.ts'
import type { RehearsalSource } from './rehearsal/rehearsal-api.ts'
import { answerUi } from './ui/answer-ui.ts'
import { answersKeys, KEY_ROUTES, type KeysSource } from './keys/keys-routes.ts'
import { answerUsageApi, USAGE_ROUTES, type UsageSource } from './usage-api.ts'
import type { PageSource } from './ui/page-source.ts'

export interface Readiness {
  draining: boolean
  /** Conditions that readiness waits for; ready when empty. */
  pending: readonly string[]
  /** A line for people that follows the verdict; empty without a note. */
  note?: string
}

/** The data and actions of the servers, which the main thread provides. */
export interface AdminCallbacks {
  /** In pieces. */
  metrics: (form: TextForm) => Iterable<string>
  readiness: () => Readiness
  /** Names of workers that are stuck. */
  silentWorkers: () => Promise<string[]>
  /** Plain JSON without secrets, see `redact`. */
  configDump: () => unknown
  logFilter: () => string
  /** Gives the problem with the filter, or null when it is in force. */
  setLogFilter: (filter: string) => string | null
  trace: TraceSource
  requests: RequestsSource
  config: ConfigSource
  backtests: BacktestSource
  capsules: CapsuleSource
  questions: QuestionSource
  history: MetricsSource
  usage: UsageSource
  keys: KeysSource | null
  caches: CacheSource
  rehearsals: RehearsalSource
  /** The tokens of the admin server; with one, every client needs one. */
  credentials: AdminCredentials
  /** Starts the drain; called after the answer was made. */
  quit: () => void
  /** The web UI. */
  pages: PageSource
}

export function answerStats(request: IncomingMessage, { metrics }: AdminCallbacks): Reply {
  const path = pathOf(request)
  if (path !== '/metrics' && path !== '/stats/prometheus') return notFound()
  if (!isAllowed(request, READ)) return methodNotAllowed(READ)
  // Only there is a place for exemplars.
  if (request.headers.accept?.includes('application/openmetrics-text') === true)
    return {
      status: 200,
      type: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
      body: metrics('openMetrics'),
    }
  return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: metrics('prometheus') }
}

/** Answers the probes: whether traffic should come here, and whether the process should be restarted. */
export function answerReadiness(request: IncomingMessage, callbacks: AdminCallbacks): Reply | Promise<Reply> {
  const path = pathOf(request)
  if (path !== '/healthz/ready' && path !== '/healthz/live') return notFound()
  if (!isAllowed(request, READ)) return methodNotAllowed(READ)
  return path === '/healthz/live' ? answerLive(callbacks) : answerReady(callbacks)
}

async function answerLive({ silentWorkers }: AdminCallbacks): Promise<Reply> {
  const silent = await silentWorkers()
  return silent.length === 0 ? text(200, 'alive\n') : text(503, `workers do not answer: ${silent.join(', ')}\n`)
}

function answerReady({ readiness }: AdminCallbacks): Reply {
  const { draining, pending, note = '' } = readiness()
  if (draining) return text(503, 'draining\n')
  return pending.length === 0
    ? text(200, note === '' ? 'ready\n' : `ready\n${note}\n`)
    : text(503, `not ready, pending: ${pending.join(', ')}\n`)
}

/** The handler of a request that the guard let in. */
export type AdminAnswer = (request: IncomingMessage, caller: AdminCaller) => ReturnType<Answer>

/**
 * The admin server. Its index page and the scopes of its endpoints come from the same table that answers. `hasToken` says
 * whether the request has the token that changes of the config need.
 */
export function createAdminAnswer(
  callbacks: AdminCallbacks,
  sessions: Sessions,
  hasToken: (request: IncomingMessage, caller: AdminCaller) => boolean = () => false,
): AdminAnswer {
  const access = { sessions, credentials: callbacks.credentials }
  const firstFilter = callbacks.logFilter()
  const routes: AdminRoute[] = [
    { methods: READ, scope: 'Read', path: '/', summary: 'this list', answer: () => text(200, index(endpoints)) },
    {
      methods: READ,
      scope: 'Read',
      path: '/ui',
      summary: 'the web UI',
      answer: (request) => answerUi(request, callbacks.pages, access),
    },
    {
      methods: ['POST', 'GET', 'HEAD', 'DELETE'],
      scope: 'Read',
      path: SESSION_PATH,
      summary: 'opens a session of the web UI with a token; DELETE ends it',
      answer: (request) => answerUi(request, callbacks.pages, access),
    },
    {
      methods: READ,
      scope: 'Read',
      path: '/config_dump',
      summary: 'the running config, without secrets',
      answer: () => json(callbacks.configDump()),
    },
    {
      methods: READ,
      scope: 'Read',
      path: '/memory',
      summary: 'memory of the process, and the heap of its main thread',
      answer: () => json({ process: process.memoryUsage(), heap: getHeapStatistics() }),
    },
    {
      methods: ['POST'],
      scope: 'Write',
      path: '/logging',
      summary: 'the log level; ?level=info,upstream=debug sets it, ?reset restores the initial level',
      answer: (request) => logging(queryOf(request), callbacks, firstFilter),
    },
    {
      methods: ['POST', 'GET'],
      scope: 'Read',
      path: '/debug/trace',
      summary: 'how the next request is decided, as a stream; ?expression=<CEL> chooses the request',
      answer: (request) => answerTrace(request, callbacks.trace),
    },
    {
      methods: ['POST'],
      scope: 'Write',
      path: '/api/send',
      summary: 'sends a request to a listener of this gateway and returns the response',
      answer: createSendAnswer(callbacks),
    },
    {
      methods: ['POST'],
      scope: 'Read',
      path: '/api/config/check',
      summary: 'checks a text as the next config: its problems, and the effect of applying it',
      answer: (request) => answerCheck(request, callbacks.config.edits),
    },
    {
      methods: ['POST'],
      scope: 'Write',
      path: '/api/config/apply',
      summary: 'writes a text to the config file and applies it; needs `config.ui.edit` and the admin token',
      answer: (request, caller) => answerApply(request, callbacks.config.edits, hasToken(request, caller)),
    },
    {
      methods: ['POST'],
      scope: 'Read',
      path: '/api/backtest',
      summary: 'decides recorded requests with a text as the config, and tells which decisions flip',
      answer: (request) => answerBacktest(request, callbacks.backtests),
    },
    {
      methods: READ,
      scope: 'Read',
      path: '/api/cache',
      summary: 'response caches of models: answers, bytes, hits and misses',
      answer: async () => (await import('./caches/cache-api.ts')).answerCaches(callbacks.caches),
    },
    {
      methods: ['POST'],
      scope: 'Write',
      path: '/api/cache/purge',
      summary: 'removes answers: JSON with `all`, `cache`, `model` or `apiKey`',
      answer: async (request, caller) =>
        (await import('./caches/cache-api.ts')).answerPurge(request, callbacks.caches, caller),
    },
    {
      methods: READ,
      scope: 'Read',
      path: '/api/rehearsal',
      summary: 'the rehearsal that runs, and the last one that ended',
      answer: async () => (await import('./rehearsal/rehearsal-api.ts')).answerRehearsal(callbacks.rehearsals),
    },
    ...(['start', 'renew', 'end'] as const).map((action): AdminRoute => ({
      methods: ['POST'],
      scope: 'Write',
      path: `/api/rehearsal/${action}`,
      summary: REHEARSAL_SUMMARIES[action],
      answer: async (request, caller) => {
        const { changeRehearsal } = await import('./rehearsal/rehearsal-api.ts')
        return changeRehearsal(action, request, { source: callbacks.rehearsals, caller })
      },
    })),
    {
      methods: ['POST'],
      scope: 'Write',
      path: '/quitquitquit',
      summary: 'drain and stop',
      answer: () => {
        setImmediate(callbacks.quit)
        return text(200, 'shutdown now\n')
      },
    },
  ]
  const endpoints: Endpoint[] = [
    ...routes,
    ...readEndpoints([...API_ROUTES, ...CONFIG_ROUTES, ...HISTORY_ROUTES, ...METRICS_ROUTES, ...USAGE_ROUTES]),
    ...QUESTION_ROUTES,
    ...KEY_ROUTES,
  ]
  const refuseScope = endpointScopes(endpoints)
  return (request, caller) => {
    const refused = refuseScope(request, caller)
    if (refused !== null) return refused
    const path = pathOf(request) ?? ''
    if (isPage(path)) return answerUi(request, callbacks.pages, access)
    if (answersKeys(path)) return answerKeys(request, callbacks.keys, caller)
    const route = routes.find((candidate) => candidate.path === path)
    if (route === undefined) return path.startsWith('/api/') ? api(request, callbacks, caller) : notFound()
    if (!isAllowed(request, route.methods)) return methodNotAllowed(route.methods)
    return route.answer(request, caller)
  }
}

/** The code for keys is loaded by the first request for them. */
async function answerKeys(request: IncomingMessage, keys: KeysSource | null, caller: AdminCaller): Promise<Reply> {
  const { answerKeysApi } = await import('./keys/keys-api.ts')
  return answerKeysApi(request, keys, caller)
}

function api(
  request: IncomingMessage,
  { requests, capsules, config, questions, history, usage }: AdminCallbacks,
  caller: AdminCaller,
): ReturnType<Answer> {
  const answered = answerQuestion(request, questions)
  if (answered !== null) return answered
  if (!isAllowed(request, READ)) return methodNotAllowed(READ)
  return (
    answerHistory(pathOf(request) ?? '', config.edits) ??
    answerCapsule(request, { requests, capsules }) ??
    answerApi(request, requests, caller) ??
    answerConfigApi(request, config) ??
    answerMetricsApi(request, history) ??
    answerUsageApi(request, usage) ??
    notFound()
  )
}

interface AdminRoute extends Endpoint {
  answer: AdminAnswer
}

function logging(query: URLSearchParams, { logFilter, setLogFilter }: AdminCallbacks, firstFilter: string): Reply {
  const level = query.has('reset') ? firstFilter : query.get('level')
  if (level === null && query.size > 0) return text(400, LOGGING_USAGE)
  const problem = level === null ? null : setLogFilter(level)
  return problem === null
    ? text(200, `current log level is ${logFilter()}\n`)
    : text(400, `${problem}\n${LOGGING_USAGE}`)
}

const LOGGING_USAGE = `usage: POST /logging                                (show the level)
       POST /logging?level=<level>                  (error, warn, info, debug, trace, off)
       POST /logging?level=<level>,<module>=<level> (per module)
       POST /logging?reset                          (back to the first one)
`

const REHEARSAL_SUMMARIES = {
  start: 'delays or aborts a share of the calls to a backend, for a limited time',
  renew: 'renews the lease of the rehearsal: JSON with `id`',
  end: 'ends the rehearsal: JSON with `id`, or an empty object for the one that runs',
}

/** Lists methods, paths and what they are for; a `*` marks those that need a token with the scope Write. */
function index(endpoints: readonly Endpoint[]): string {
  const rows = endpoints.map(({ methods, path, scope, summary }) => ({
    methods: methods.filter((method) => method !== 'HEAD').join(),
    path: `${path}${scope === 'Write' ? ' *' : ''}`,
    summary,
  }))
  const widest = (column: 'methods' | 'path'): number => Math.max(...rows.map((row) => row[column].length)) + 1
  const [first, second] = [widest('methods'), widest('path')]
  return rows.map(({ methods, path, summary }) => `${methods.padEnd(first)}${path.padEnd(second)}${summary}\n`).join('')
}

function isAllowed(request: IncomingMessage, methods: readonly string[]): boolean {
  return methods.includes(request.method ?? '')
}

function json(value: unknown): Reply {
  return { status: 200, type: 'application/json', body: `${JSON.stringify(value, null, 2)}\n` }
}

function notFound(): Reply {
  return text(404, 'not found\n')
}

function methodNotAllowed(methods: readonly string[]): Reply {
  return text(405, 'method not allowed\n', { allow: methods.join(', ') })
}
