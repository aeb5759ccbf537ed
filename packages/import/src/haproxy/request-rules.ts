import { positionText } from '../core/source.ts'
import type { Statement } from '../core/statement.ts'
import { type Condition, expressionOfCondition } from '../http/conditions.ts'
import { type Action, whyInexpressible } from '../http/entries.ts'
import { isSettable } from '../http/header-names.ts'
import { type PortFacts, readCondition } from './acls.ts'
import { formatExpression, literalFormat } from './format.ts'
import { type NewPath, readNewPath } from './new-path.ts'
import { lastLine, type Proxy, readAcls } from './proxies.ts'
import { readRedirect } from './redirects.ts'
import { readUsers, type Userlists } from './users.ts'

/** A request rule that responds to requests. */
export interface Step {
  readonly condition: Condition
  readonly line: Statement
  readonly action: Action
  /** An expression that is true for requests that the rule denies; absent for rules that do not deny requests. */
  readonly denial?: string
}

/**
 * The request rules of a frontend, which run before a backend is chosen, or of a backend, which run before a server is
 * called.
 */
export interface RequestRules {
  readonly steps: readonly Step[]
  /** CEL expressions; a request is denied if one of them is true. */
  readonly denials: readonly string[]
  /** Whether no request may pass, because a denial could not be expressed. */
  readonly isClosed: boolean
  readonly policies: Readonly<Record<string, unknown>>
  /** Returns the path that servers get for the path of a client; null when servers get the same path. */
  readonly pathFor: NewPath['pathFor'] | null
}

/**
 * Matches conditions on counters, such as request rates. Rules with such conditions limit clients, and are not carried.
 */
const COUNTERS =
  /\b(sc\d?_|src_(conn|http|get|inc|clr|bytes|sess|kbytes|updt)|be_|fe_|nbsrv|table_|queue|connslots|rate)/

export function readRequestRules(proxy: Proxy, facts: PortFacts, users: Userlists): RequestRules {
  const acls = readAcls(proxy)
  const steps: Step[] = []
  const denials: string[] = []
  const set: { name: string; value: string }[] = []
  const response: Record<'set' | 'add' | 'remove', unknown[]> = { set: [], add: [], remove: [] }
  const found: Record<string, unknown> = {}
  let isClosed = false
  let path: NewPath | null = null
  const close = (line: Statement, why: string): void => {
    line.notCarried(`${why}; requests get 403 until you configure a replacement`, true)
    isClosed = true
  }
  const monitor = lastLine(proxy, 'monitor-uri')
  if (monitor !== null) {
    monitor.carried()
    const path = monitor.args[0] ?? '/'
    const condition: Condition = { kind: 'path', path: { kind: 'exact', path } }
    if (/^\/[\w./-]*$/.test(path)) steps.push({ condition, line: monitor, action: reply(monitor, 200) })
  }
  const lines = [...proxy.inherited, ...proxy.lines]
  const inOrder = [
    ...lines.filter(({ name }) => name === 'http-request'),
    ...lines.filter(({ name }) => name === 'redirect'),
  ]
  for (const line of inOrder) {
    const [verb = '', ...rest] = line.name === 'redirect' ? ['redirect', ...line.args] : line.args
    const at = rest.findIndex((word) => word === 'if' || word === 'unless')
    const words = at === -1 ? rest : rest.slice(0, at)
    const tail = at === -1 ? [] : rest.slice(at)
    const condition = readCondition(tail, acls, facts)
    switch (verb.replace(/\(.*/, '')) {
      case 'deny':
      case 'reject':
      case 'tarpit':
      case 'silent-drop': {
        const status = Number(words[words.indexOf('deny_status') + 1] ?? 403)
        const code = words.includes('deny_status') && status >= 400 && status <= 599 ? status : 403
        const expression = expressionOfCondition(condition)
        if (isCounter(tail, acls))
          line.notCarried(
            'configure a rateLimit policy for limits by client: docs/policies/traffic-rate-limit.md',
            true,
          )
        else if (expression === null) close(line, whyUnknown(condition))
        else if (expression === 'true' || !readsAddress(condition)) {
          if (verb === 'deny') line.carried()
          else line.changed('the gateway denies requests with status 403')
          steps.push({ condition, line, action: reply(line, code), denial: expression })
        } else {
          if (code === 403 && verb === 'deny') line.carried('the gateway checks this rule before the other rules')
          else line.changed('the gateway checks this rule before the other rules, and denies with status 403')
          denials.push(expression)
        }
        break
      }
      case 'redirect': {
        const action = readRedirect(line, words)
        if (typeof action === 'string') line.notCarried(action)
        else steps.push({ condition, line, action })
        break
      }
      case 'return': {
        const action = readReturn(line, words)
        if (typeof action === 'string') line.notCarried(action, true)
        else steps.push({ condition, line, action })
        break
      }
      case 'auth': {
        const policy = readUsers(words, tail, acls, users)
        if (typeof policy === 'string') close(line, policy)
        else {
          line.carried()
          found['basicAuthentication'] = policy
        }
        break
      }
      case 'set-header':
      case 'add-header':
      case 'del-header': {
        const change = headerChange(verb, words, condition)
        if (typeof change === 'string') line.notCarried(change)
        else if (change === null) line.carried('the condition never holds on this port')
        else if (change.name === 'host') {
          line.carried()
          found['urlRewrite'] = { authority: { full: change.value } }
        } else if (OWN_HEADERS.has(change.name)) {
          line.changed(
            "the gateway sets this header; frontend.forwardedHeaders decides whether the client's value is trusted",
          )
        } else if (set.length >= 15) line.notCarried('a route can change at most 15 headers')
        else {
          line.carried()
          set.push(change)
        }
        break
      }
      case 'set-path':
      case 'replace-path':
      case 'replace-uri':
      case 'set-uri':
      case 'set-query': {
        const isOnly: boolean = proxy.kind === 'backend' && path === null && isAlwaysTrue(condition)
        const changed: NewPath | null = verb === 'set-path' && isOnly ? readNewPath(words.join(' ')) : null
        if (changed !== null) {
          line.carried()
          path = changed
        } else if (whyInexpressible(condition) === '') {
          line.notCarried('the importer does not read this change of the path; matching requests get 501')
          const text = `not imported: ${verb} at ${positionText(line.at)}\n`
          steps.push({ condition, line, action: reply(line, 501, text) })
        } else line.notCarried('the importer does not change the path; configure a urlRewrite policy', true)
        break
      }
      default:
        line.notCarried(
          verb.startsWith('track-')
            ? 'configure a rateLimit policy for limits by client: docs/policies/traffic-rate-limit.md'
            : 'the gateway has no counterpart for this rule',
          verb.startsWith('track-'),
        )
    }
  }
  for (const line of lines.filter(({ name }) => name === 'http-response')) readResponseRule(line, response)
  if (path !== null) set.push({ name: ':path', value: path.expression })
  if (set.length > 0) found['transformation'] = { request: { set } }
  const modified = Object.fromEntries(Object.entries(response).filter(([, list]) => list.length > 0))
  if (Object.keys(modified).length > 0) found['headerModifiers'] = { response: modified }
  return { steps, denials, isClosed, policies: found, pathFor: path?.pathFor ?? null }
}

/** Headers that the gateway sets itself. */
const OWN_HEADERS = new Set([
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'connection',
  'upgrade',
])

/** Returns a route action that responds with a status instead of calling a backend. */
export function reply(line: Statement, status: number, body?: string): Action {
  return {
    ...{ name: `${line.name}-${line.at.line}`, at: line.at, source: line.text, backends: [] },
    policies: { directResponse: { status, ...(body !== undefined && body !== '' && { body }) } },
    outcome: { kind: 'status', status },
  }
}

/** Whether a condition depends on the client's address, which routes cannot match. */
function readsAddress(condition: Condition): boolean {
  if (condition.kind === 'all' || condition.kind === 'any') return condition.of.some(readsAddress)
  return condition.kind === 'not' ? readsAddress(condition.of) : condition.kind === 'address'
}

function isCounter(words: readonly string[], acls: ReadonlyMap<string, readonly (readonly string[])[]>): boolean {
  return words.some(
    (word) =>
      COUNTERS.test(word) ||
      (acls.get(word.replace(/^!/, '')) ?? []).some((test) => test.some((each) => COUNTERS.test(each))),
  )
}

export function whyUnknown(condition: Condition): string {
  if (condition.kind === 'unknown') return condition.why
  const parts =
    condition.kind === 'not' ? [condition.of] : condition.kind === 'all' || condition.kind === 'any' ? condition.of : []
  return parts.map(whyUnknown).find((why) => why !== '') ?? ''
}

function readReturn(line: Statement, words: readonly string[]): Action | string {
  const value = (name: string): string | null => {
    const at = words.indexOf(name)
    return at === -1 ? null : (words[at + 1] ?? '')
  }
  const status = Number(value('status') ?? 200)
  const body = value('string') ?? value('lf-string')
  const isFile = ['file', 'lf-file', 'errorfile', 'errorfiles'].some((name) => words.includes(name))
  if (isFile) return 'the gateway serves no files'
  if (!(status >= 200 && status <= 599)) return 'the gateway cannot send this status as a direct response'
  const text = body === null ? undefined : words.includes('lf-string') ? literalFormat(body) : body
  if (text === null || (text?.length ?? 0) > 4_096) return 'the text contains samples, or is too long'
  const type = value('content-type')
  line.carried()
  const plain = reply(line, status, text)
  if (type === null || /[^\x20-\x7e]/.test(type)) return plain
  const response = { ...(plain.policies['directResponse'] as object), headers: [{ name: 'content-type', value: type }] }
  return { ...plain, policies: { directResponse: response } }
}

function headerChange(
  verb: string,
  [name = '', format = '']: readonly string[],
  condition: Condition,
): { name: string; value: string } | null | string {
  if (!isSettable(name)) return 'the header name is not valid, or the header frames messages'
  const lower = name.toLowerCase()
  const holds = expressionOfCondition(condition)
  if (holds === null) return 'the condition of the rule has no counterpart'
  const isConstant = !/[^\w()!&| ]|request|source/.test(holds)
  if (isConstant && isAlwaysFalse(condition)) return null
  const value = verb === 'del-header' ? '[]' : formatExpression(format)
  if (value === null) return 'a sample of the value has no counterpart'
  if (lower === 'host') {
    const literal = literalFormat(format)
    const isPlain = literal !== null && /^[a-zA-Z0-9.-]+(:\d{1,5})?$/.test(literal)
    return holds === 'true' && isPlain
      ? { name: 'host', value: literal }
      : 'the new Host depends on a condition or on samples'
  }
  if (isAlwaysTrue(condition)) return { name: lower, value }
  return { name: lower, value: `(${holds}) ? dyn(${value}) : dyn(request.headers[${JSON.stringify(lower)}])` }
}

function isAlwaysTrue(condition: Condition): boolean {
  if (condition.kind === 'all') return condition.of.every(isAlwaysTrue)
  if (condition.kind === 'any') return condition.of.some(isAlwaysTrue)
  return condition.kind === 'not' ? isAlwaysFalse(condition.of) : condition.kind === 'always' && condition.value
}

function isAlwaysFalse(condition: Condition): boolean {
  if (condition.kind === 'all') return condition.of.some(isAlwaysFalse)
  if (condition.kind === 'any') return condition.of.every(isAlwaysFalse)
  return condition.kind === 'not' ? isAlwaysTrue(condition.of) : condition.kind === 'always' && !condition.value
}

function readResponseRule(line: Statement, found: Record<'set' | 'add' | 'remove', unknown[]>): void {
  const [verb = '', name = '', format = '', ...rest] = line.args
  const isRemoval = verb === 'del-header'
  const value = isRemoval ? '' : literalFormat(format)
  const hasCondition = (isRemoval ? [format, ...rest] : rest).some((word) => word === 'if' || word === 'unless')
  const list = { 'set-header': found.set, 'add-header': found.add, 'del-header': found.remove }[verb]
  if (list === undefined) return line.notCarried('the gateway has no counterpart for this rule')
  if (hasCondition || value === null || /[^\x20-\x7e]/.test(value)) {
    return line.notCarried("the gateway's response headers need literal values, and cannot depend on a condition")
  }
  if (list.length >= 16 || !isSettable(name))
    return line.notCarried('the route would change more than 16 headers, or the header frames the message')
  line.carried()
  list.push(isRemoval ? name.toLowerCase() : { name: name.toLowerCase(), value })
}
