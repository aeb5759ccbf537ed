import type { Statement } from '../core/statement.ts'
import { Variable } from '../core/config-yaml.ts'
import { isSettable } from '../http/header-names.ts'
import type { Environment } from './environment.ts'
import { hasPlaceholder, templateOf, textExpression, variablesOf } from './placeholders.ts'
import type { Handler } from '../chain/routes.ts'
import { type RequestHeader, type ResponseHeader, type State, withHeaders } from '../chain/state.ts'

/** Headers that the gateway sets itself. */
const OWN = new Set([
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'connection',
  'upgrade',
  'x-real-ip',
])
const SECRET = /authorization|api-?key|token|secret|password|cookie/i

/** Reads one change of a response header: `+X v`, `-X`, `?X v`, `>X v` or `X v`. */
function responseChange(statement: Statement, words: readonly string[], env: Environment): ResponseHeader | null {
  const [field = '', value, replacement] = words
  const [, sign = '', name = ''] = /^([+?>-]?)(.*)$/.exec(field) ?? []
  const refuse = (why: string): null => {
    statement.notCarried(why)
    return null
  }
  if (name.includes('*')) return refuse('the header name contains a star')
  if (!isSettable(name)) return refuse('the header name is not valid, or the header frames the message')
  if (replacement !== undefined)
    return refuse('the change replaces a part of the value by a pattern; configure a transformation policy')
  const lower = name.toLowerCase()
  if (sign === '-') {
    statement.carried()
    return { verb: 'remove', name: lower, value: '', when: null }
  }
  if (value === undefined || /[^\x20-\x7e]/.test(value)) return refuse('the value is missing or not ASCII')
  const found = headerValue(statement, lower, value, env)
  if (found === null) return refuse('a placeholder of the value has no counterpart in response headers')
  if (sign === '?') statement.changed('the gateway sets the header even if the response already has it')
  else statement.carried()
  return { verb: sign === '+' ? 'add' : 'set', name: lower, value: found, when: null }
}

/**
 * Reads a header value: a literal text, or a text with environment variables. Returns null when the value has other
 * placeholders.
 */
function headerValue(statement: Statement, name: string, value: string, env: Environment): string | object | null {
  if (SECRET.test(name) && variablesOf(value).length === 0 && !hasPlaceholder(value))
    return secretOf(statement, name, env)
  const template = templateOf(value)
  for (const variable of template === null ? [] : variablesOf(value)) env.use(variable, 'example')
  if (template === null) return null
  return variablesOf(value).length === 0 ? value : template
}

/** Replaces a secret by a new environment variable, so that the imported config does not contain the secret. */
function secretOf(statement: Statement, name: string, env: Environment): Variable {
  const variable = env.free(statement.at, name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_'), 'example')
  statement.changed(`the value is taken from the environment variable ${variable}`)
  return new Variable(variable)
}

/** Reads the changes of response headers in `header` and `header_down`. */
export function responseHeaders(statement: Statement, words: readonly string[], env: Environment): Handler {
  const lines = statement.block?.filter(() => words.length === 0) ?? []
  const changes = (words.length === 0 ? lines : [statement]).flatMap((line) => {
    if (line.name === 'defer') {
      line.carried()
      return []
    }
    return responseChange(line, words.length === 0 ? [line.name, ...line.args] : words, env) ?? []
  })
  if (words.length === 0) statement.carried()
  return {
    kind: 'effect',
    apply: (state) => withHeaders(state, { response: changes }, () => tooMany(statement)),
    applyIf: (state, when) => {
      const literal = changes.filter(({ value }) => typeof value === 'string')
      if (literal.length < changes.length)
        statement.notCarried('a value from the environment cannot depend on a condition')
      const response = literal.map((each) => ({ ...each, when }))
      return withHeaders(state, { response }, () => tooMany(statement))
    },
    ifUnsure: null,
  }
}

/** Reads the change of a request header in `request_header` and `header_up`. */
export function requestHeader(statement: Statement, words: readonly string[], env: Environment): Handler {
  const [field = '', value, replacement] = words
  const [, sign = '', name = ''] = /^([+?>-]?)(.*)$/.exec(field) ?? []
  const lower = name.toLowerCase()
  const refuse = (why: string): Handler => {
    statement.notCarried(why)
    return effect((state) => state, statement)
  }
  if (OWN.has(lower) && lower !== 'x-real-ip') {
    statement.changed(
      "the gateway sets this header; frontend.forwardedHeaders decides whether the client's value is trusted",
    )
    return effect((state) => state, statement)
  }
  if (name.includes('*') || !isSettable(name))
    return refuse('the header name is not valid, or the header frames the message')
  if (replacement !== undefined)
    return refuse('the change replaces a part of the value by a pattern; configure a transformation policy')
  if (sign === '-') {
    statement.carried()
    return withHeader(statement, { name: lower, value: '[]', when: null })
  }
  if (value === undefined || /[^\x20-\x7e]/.test(value)) return refuse('the value is missing or not ASCII')
  if (sign !== '' && sign !== '>') statement.changed('the gateway replaces the header')
  if (SECRET.test(lower) && !hasPlaceholder(value))
    return withHeader(statement, { name: lower, value: secretOf(statement, lower, env), when: null })
  if (variablesOf(value).length > 0) {
    const found = headerValue(statement, lower, value, env)
    if (found === null) return refuse('a placeholder of the value has no counterpart')
    statement.carried()
    return withHeader(statement, {
      name: lower,
      value: typeof found === 'string' ? JSON.stringify(found) : found,
      when: null,
    })
  }
  if (textExpression(value, true) === null) return refuse('a placeholder of the value has no counterpart')
  statement.carried()
  return effect((state) => {
    const isPathKept = state.path !== null && state.path.prefix === '' && state.path.cut === ''
    const expression = textExpression(value, isPathKept)
    if (expression === null)
      statement.notCarried('a placeholder of the value has no counterpart after a rewrite of the path')
    return expression === null ? state : added(statement, state, { name: lower, value: expression, when: null })
  }, statement)
}

function withHeader(statement: Statement, header: RequestHeader): Handler {
  return effect((state) => added(statement, state, header), statement)
}

function added(statement: Statement, state: State, header: RequestHeader): State {
  return withHeaders(state, { request: [header] }, () => tooMany(statement))
}

function tooMany(statement: Statement): void {
  statement.notCarried('a route can change at most 15 headers', true)
}

function effect(apply: (state: State) => State, statement: Statement): Handler {
  return {
    kind: 'effect',
    apply,
    applyIf: (state, when) => {
      const changed = apply(state)
      const request = changed.request.map((each, index) => {
        if (index < state.request.length) return each
        if (typeof each.value === 'object')
          statement.notCarried('a value from the environment cannot depend on a condition')
        return { ...each, when }
      })
      return {
        ...changed,
        request: request.filter(({ value, when: its }) => its === null || typeof value === 'string'),
      }
    },
    ifUnsure: null,
  }
}
