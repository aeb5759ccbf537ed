import type { IncomingMessage } from 'node:http'
import { isObject } from '@portico/http/json'
import type { Evaluation, EvaluationQuestion, ExpressionAttachments } from '../findings/evaluation.ts'
import type { MatchQuestion, RouteMatchView } from '../findings/route-match.ts'
import type { Endpoint } from './endpoints.ts'
import { pathOf, queryOf, type Reply, text } from './http.ts'
import { later } from './json-reply.ts'
import { readJson } from './read-json.ts'

/** Questions that come with something to look at, answered by the main thread. They change nothing. */
export interface QuestionSource {
  places(): Promise<ExpressionAttachments>
  /** A text says what is wrong with the question. */
  evaluate(question: EvaluationQuestion): Promise<Evaluation | string>
  match(question: MatchQuestion): Promise<RouteMatchView | string>
}

/** The endpoints, as the start page of the admin server lists them. */
export const QUESTION_ROUTES: readonly Endpoint[] = [
  {
    methods: ['GET', 'HEAD'],
    scope: 'Read',
    path: '/api/expressions',
    summary: 'the attachment points of expressions, and the variables of each',
  },
  {
    methods: ['POST'],
    scope: 'Read',
    path: '/api/expressions/evaluate',
    summary: 'the value of an expression, and of all its parts',
  },
  { methods: ['POST'], scope: 'Read', path: '/api/routes/match', summary: 'which route a request would take' },
]

/** Null for a path that is none of them. */
export function answerQuestion(request: IncomingMessage, source: QuestionSource): Reply | Promise<Reply> | null {
  const path = pathOf(request)
  const route = QUESTION_ROUTES.find((candidate) => candidate.path === path)
  if (route === undefined) return null
  const { methods } = route
  if (!methods.includes(request.method ?? '')) return text(405, 'method not allowed\n', { allow: methods.join(', ') })
  const [unknown] = queryOf(request).keys()
  if (unknown !== undefined) return text(400, `unknown parameter ${JSON.stringify(unknown)}, expected none\n`)
  if (path === '/api/expressions') return later(source.places())
  return path === '/api/routes/match'
    ? asked(request, readMatch, (question) => source.match(question))
    : asked(request, readEvaluation, (question) => source.evaluate(question))
}

async function asked<Q>(
  request: IncomingMessage,
  read: (value: Record<string, unknown>) => Q | string,
  answer: (question: Q) => Promise<object | string>,
): Promise<Reply> {
  const body = await readJson(request, MOST_BYTES)
  if ('refused' in body) return body.refused
  const { value } = body
  if (!isObject(value)) return text(400, 'expected an object\n')
  const question = read(value)
  const answered = typeof question === 'string' ? question : await answer(question)
  if (typeof answered === 'string') return text(400, `${answered}\n`)
  return { status: 200, type: 'application/json', body: `${JSON.stringify(answered)}\n` }
}

const MOST_BYTES = 256 * 1024
const LONGEST = 8192

function readEvaluation(value: Record<string, unknown>): EvaluationQuestion | string {
  const { expression, phase, requestId, variables, ...others } = value
  const unknown = unknownIn(others, 'expression, phase, requestId, variables')
  if (unknown !== null) return unknown
  if (typeof expression !== 'string' || expression === '') return 'expression: expected a string'
  if (expression.length > LONGEST) return `expression: expected at most ${LONGEST} characters`
  if (!isTextOrNone(phase)) return 'phase: expected a string'
  if (!isTextOrNone(requestId)) return 'requestId: expected a string'
  if (requestId !== undefined && variables !== undefined) return 'expected requestId or variables, found both'
  return {
    expression,
    ...(phase !== undefined && { phase }),
    ...(requestId !== undefined && { requestId }),
    ...(variables !== undefined && { variables }),
  }
}

function readMatch(value: Record<string, unknown>): MatchQuestion | string {
  const { url, method, headers, ...others } = value
  const unknown = unknownIn(others, 'url, method, headers')
  if (unknown !== null) return unknown
  if (typeof url !== 'string' || url === '') return 'url: expected a string'
  if (url.length > LONGEST) return `url: expected at most ${LONGEST} characters`
  if (!isTextOrNone(method)) return 'method: expected a string'
  if (headers !== undefined && !isHeaders(headers))
    return 'headers: expected an object of strings, or of lists of strings'
  return { url, ...(method !== undefined && { method }), ...(headers !== undefined && { headers }) }
}

function unknownIn(others: object, known: string): string | null {
  const [name] = Object.keys(others)
  return name === undefined ? null : `unknown field ${JSON.stringify(name)}, expected ${known}`
}

function isTextOrNone(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}

function isHeaders(value: unknown): value is Record<string, string | string[]> {
  const isText = (line: unknown): boolean => typeof line === 'string'
  return (
    isObject(value) && Object.values(value).every((line) => (Array.isArray(line) ? line.every(isText) : isText(line)))
  )
}
