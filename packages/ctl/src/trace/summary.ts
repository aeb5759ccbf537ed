import { isObject } from '@portico/http/json'
import { compactJson } from './json-lines.ts'
import type { Fields, TraceEvent } from './event.ts'

/** Summarizes an event in a few words. The text contains request data: escape it before printing it to a terminal. */
export function summarize({ type, message, scope }: TraceEvent): string {
  const summary = (summaries.get(type) ?? unknownType)(message)
  return scope.length === 0 ? summary : `[${scope.join(' > ')}] ${summary}`
}

const summaries = new Map(
  Object.entries<(message: Fields) => string>({
    requestStarted: () => 'request started',
    requestSnapshot: (message) => {
      const request = within(message, 'requestState', 'request')
      return `${text(message['stage'])}: ${text(request['method'])} ${text(request['host'])} ${text(request['path'])}`
    },
    routeSelection: ({ selectedRoute, evaluatedRoutes, rejectedRoutes }) => {
      const evaluated = `(${Array.isArray(evaluatedRoutes) ? evaluatedRoutes.length : 0} evaluated)`
      if (!isNothing(selectedRoute)) return `selected "${text(selectedRoute)}" ${evaluated}`
      return `no route matched ${evaluated}${nearest(rejectedRoutes)}`
    },
    policySelection: (message) => {
      const names = Object.entries(within(message, 'effectivePolicy')).flatMap(([name, policy]) =>
        isNothing(policy) ? [] : [name],
      )
      return `effective policies: ${names.length === 0 ? 'none' : names.join(', ')}`
    },
    policy: (message) => {
      const { type, reason, status } = within(message, 'result')
      const verb = (typeof type === 'string' ? verbs.get(type) : undefined) ?? text(type)
      const why = [
        ...(isNothing(reason) ? [] : [text(reason)]),
        ...(isNothing(status) ? [] : [`status=${text(status)}`]),
      ]
      return `${text(message['kind'])}: ${verb}${why.length === 0 ? '' : ` (${why.join(', ')})`}`
    },
    authorizationResult: ({ rules, result }) => {
      const found = (Array.isArray(rules) ? rules : []).filter(isObject)
      const matched = found
        .filter((rule) => rule['matched'] === true)
        .map(({ mode, name }) => `${text(mode)} ${text(name)}`)
      const failed = found
        .filter(({ error }) => !isNothing(error))
        .map(({ name, error }) => `${text(name)}: ${text(error)}`)
      const notes = [
        `${found.length} rules`,
        ...(matched.length === 0 ? [] : [`matched ${matched.join(', ')}`]),
        ...(failed.length === 0 ? [] : [`failed ${failed.join(', ')}`]),
      ]
      return `authorization: ${text(result)} (${notes.join('; ')})`
    },
    backendCallStart: ({ target }) => `calling ${text(target)}`,
    backendCallResult: ({ status, error }) => [statusPart(status), ...errorPart(error)].join(' '),
    responseSnapshot: (message) =>
      `${text(message['stage'])}: ${statusPart(within(message, 'requestState', 'response')['code'])}`,
    dropped: ({ count }) => `${text(count)} events dropped: this client did not keep up`,
    requestFinished: ({ error }) => ['request finished', ...errorPart(error)].join(' '),
  }),
)

const verbs = new Map([
  ['apply', 'applied'],
  ['skip', 'skipped'],
  ['stop', 'stopped'],
])

function unknownType(message: Fields): string {
  return compactJson(Object.fromEntries(Object.entries(message).filter(([name]) => name !== 'type')))
}

function statusPart(status: unknown): string {
  return `status=${isNothing(status) ? 'none' : text(status)}`
}

function errorPart(error: unknown): string[] {
  return isNothing(error) ? [] : [`error=${text(error)}`]
}

/** The condition of the closest route that the request did not meet. */
function nearest(rejected: unknown): string {
  const [first]: unknown[] = Array.isArray(rejected) ? rejected : []
  if (!isObject(first) || !Array.isArray(first['lacks'])) return ''
  return `; "${text(first['route'])}" lacks ${first['lacks'].map(text).join(', ')}`
}

function within(message: Fields, ...path: string[]): Fields {
  let found: unknown = message
  for (const name of path) found = isObject(found) ? found[name] : undefined
  return isObject(found) ? found : {}
}

function text(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined ? '?' : compactJson(value)
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null
}
