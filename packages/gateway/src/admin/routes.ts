import type { TextForm } from '../telemetry/metrics/metrics-collect.ts'
import type { IncomingMessage } from 'node:http'
import { getHeapStatistics } from 'node:v8'
import { answerConfigApi, CONFIG_ROUTES, type ConfigSource } from './config-api.ts'
import { answerApply, answerCheck, answerHistory, HISTORY_ROUTES } from './config-edit-api.ts'
import { pathOf, queryOf, text } from './http.ts'
import type { Answer, Reply } from './http.ts'
import { answerMetricsApi, METRICS_ROUTES, type MetricsSource } from './metrics-api.ts'
import { answerQuestion, QUESTION_ROUTES, type QuestionSource } from './questions-api.ts'
import { answerApi, API_ROUTES, type RequestsSource } from './requests.ts'
import { isPage } from './guard.ts'
import { createSendAnswer } from './send/answer-send.ts'
import type { Sessions } from './sessions.ts'
import { answerTrace, type TraceSource } from './trace.ts'
import { answerUi } from './ui/answer-ui.ts'
import { answersKeys, KEY_ROUTES, type KeysSource } from './keys/keys-routes.ts'
import { answerUsageApi, USAGE_ROUTES, type UsageSource } from './usage-api.ts'
import type { PageSource } from './ui/page-source.ts'

export interface Readiness {
  draining: boolean
  /** Conditions that readiness waits for; ready when empty. */
  pending: readonly string[]
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
  questions: QuestionSource
  history: MetricsSource
  usage: UsageSource
  keys: KeysSource | null
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
  const { draining, pending } = readiness()
  if (draining) return text(503, 'draining\n')
  return pending.length === 0 ? text(200, 'ready\n') : text(503, `not ready, pending: ${pending.join(', ')}\n`)
}

/** The admin server; its index page is printed from the same table that answers. `sessions` are there with a token. */
export function createAdminAnswer(
  callbacks: AdminCallbacks,
  sessions: Sessions | null,
  hasToken: (request: IncomingMessage) => boolean = () => false,
): Answer {
  const firstFilter = callbacks.logFilter()
  const routes: AdminRoute[] = [
    {
      methods: READ,
      path: '/',
      summary: 'this list',
      answer: () =>
        text(
          200,
          index([
            ...routes,
            ...[...API_ROUTES, ...CONFIG_ROUTES, ...HISTORY_ROUTES, ...METRICS_ROUTES, ...USAGE_ROUTES].map(
              (route) => ({
                methods: READ,
                ...route,
              }),
            ),
            ...QUESTION_ROUTES,
            ...KEY_ROUTES,
          ]),
        ),
    },
    {
      methods: READ,
      path: '/ui',
      summary: 'the web UI',
      answer: (request) => answerUi(request, callbacks.pages, sessions),
    },
    {
      methods: READ,
      path: '/config_dump',
      summary: 'the running config, without secrets',
      answer: () => json(callbacks.configDump()),
    },
    {
      methods: READ,
      path: '/memory',
      summary: 'memory of the process, and the heap of its main thread',
      answer: () => json({ process: process.memoryUsage(), heap: getHeapStatistics() }),
    },
    {
      methods: ['POST'],
      path: '/logging',
      summary: 'the log level; ?level=info,upstream=debug sets it, ?reset restores the initial level',
      answer: (request) => logging(queryOf(request), callbacks, firstFilter),
    },
    {
      methods: ['POST', 'GET'],
      path: '/debug/trace',
      summary: 'how the next request is decided, as a stream; ?expression=<CEL> chooses the request',
      answer: (request) => answerTrace(request, callbacks.trace),
    },
    {
      methods: ['POST'],
      path: '/api/send',
      summary: 'sends a request to a listener of this gateway and returns the response',
      answer: createSendAnswer(callbacks),
    },
    {
      methods: ['POST'],
      path: '/api/config/check',
      summary: 'checks a text as the next config: its problems, and the effect of applying it',
      answer: (request) => answerCheck(request, callbacks.config.edits),
    },
    {
      methods: ['POST'],
      path: '/api/config/apply',
      summary: 'writes a text to the config file and applies it; needs `config.ui.edit` and the admin token',
      answer: (request) => answerApply(request, callbacks.config.edits, hasToken),
    },
    {
      methods: ['POST'],
      path: '/quitquitquit',
      summary: 'drain and stop',
      answer: () => {
        setImmediate(callbacks.quit)
        return text(200, 'shutdown now\n')
      },
    },
  ]
  return (request) => {
    const path = pathOf(request) ?? ''
    if (isPage(path)) return answerUi(request, callbacks.pages, sessions)
    if (answersKeys(path)) return answerKeys(request, callbacks.keys)
    const route = routes.find((candidate) => candidate.path === path)
    if (route === undefined) return path.startsWith('/api/') ? api(request, callbacks) : notFound()
    if (!isAllowed(request, route.methods)) return methodNotAllowed(route.methods)
    return route.answer(request)
  }
}

/** The code for keys is loaded by the first request for them. */
async function answerKeys(request: IncomingMessage, keys: KeysSource | null): Promise<Reply> {
  const { answerKeysApi } = await import('./keys/keys-api.ts')
  return answerKeysApi(request, keys)
}

function api(
  request: IncomingMessage,
  { requests, config, questions, history, usage }: AdminCallbacks,
): ReturnType<Answer> {
  const answered = answerQuestion(request, questions)
  if (answered !== null) return answered
  if (!isAllowed(request, READ)) return methodNotAllowed(READ)
  return (
    answerHistory(pathOf(request) ?? '', config.edits) ??
    answerApi(request, requests) ??
    answerConfigApi(request, config) ??
    answerMetricsApi(request, history) ??
    answerUsageApi(request, usage) ??
    notFound()
  )
}

interface AdminRoute {
  /** The first one is shown in the index. */
  methods: readonly string[]
  path: string
  summary: string
  answer: Answer
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

function index(routes: readonly Omit<AdminRoute, 'answer'>[]): string {
  const width = Math.max(...routes.map(({ path }) => path.length)) + 1
  return routes
    .map(({ methods: [method = ''], path, summary }) => `${method.padEnd(5)}${path.padEnd(width)}${summary}\n`)
    .join('')
}

const READ: readonly string[] = ['GET', 'HEAD']

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
