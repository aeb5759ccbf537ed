import type { Statement } from '../core/statement.ts'
import { basicAuth, forwardAuth } from './auth.ts'
import type { Environment } from './environment.ts'
import { requestHeader, responseHeaders } from './headers.ts'
import { type Matcher, type Matchers, pathMatcher, readMatcher, type SiteFacts } from './matchers.ts'
import { DIRECTIVE_NOTES, isProtective } from './notes.ts'
import { sortDirectives } from './order.ts'
import { redirect } from './redirects.ts'
import { closed, final, notImported, statusReply } from '../chain/replies.ts'
import { reverseProxy } from './reverse-proxy.ts'
import { rewrite, stripRoutes, unknownPath, uri } from './rewrites.ts'
import type { Handler, Route } from '../chain/routes.ts'

export interface Context {
  readonly facts: SiteFacts
  readonly order: readonly string[]
  readonly env: Environment
  readonly namedRoutes: ReadonlyMap<string, Statement>
}

interface Directive {
  readonly name: string
  readonly path: string | null
  readonly hasMatcher: boolean
  readonly key: string
  readonly route: Route
}

const ANY: Matcher = { condition: { kind: 'always', value: true }, path: null, key: '' }

/** Returns the routes of a block, in the order in which Caddy runs its directives. */
export function readBlock(list: readonly Statement[], context: Context, outer: Matchers, isSorted = true): Route[] {
  const matchers = new Map(outer)
  for (const each of list) {
    if (each.name.startsWith('@')) matchers.set(each.name, readMatcher(each, context.facts))
  }
  // At most one `handle` and at most one `rewrite` of a block take effect.
  const handles = list.filter(({ name }) => name === 'handle' || name === 'handle_path')
  const groups = { handle: handles.length > 1 ? {} : null, rewrite: {} }
  const directives = list
    .filter(({ name }) => !name.startsWith('@'))
    .flatMap((statement) => readDirective(statement, context, matchers, groups))
  return joined(isSorted ? sortDirectives(directives, context.order) : directives)
}

/**
 * Joins neighboring directives with the same matcher into one route. Caddy checks their matcher once, before the first
 * of them changes the request.
 */
function joined(directives: readonly Directive[]): Route[] {
  const found: { key: string; route: Route }[] = []
  for (const { key, route } of directives) {
    const last = found.at(-1)
    if (last === undefined || last.route.group !== route.group || last.key !== key) found.push({ key, route })
    else last.route = { ...last.route, handlers: [...last.route.handlers, ...route.handlers] }
  }
  return found.map(({ route }) => route)
}

interface Groups {
  readonly handle: object | null
  readonly rewrite: object
}

const IS_NO_HANDLER = new Set(['log', 'tls', 'bind', 'handle_errors', 'fs'])

/** Directives whose first word may be a path instead of a matcher when it is the only word. */
const TAKES_ONE_WORD = new Set(['rewrite', 'redir', 'root'])

function readDirective(statement: Statement, context: Context, matchers: Matchers, groups: Groups): Directive[] {
  const { name, args } = statement
  const [first = ''] = args
  const isMatcher = /^[@/]/.test(first) || first === '*'
  const hasMatcher =
    isMatcher && !(TAKES_ONE_WORD.has(name) && args.length === 1 && first.startsWith('/')) && name !== 'try_files'
  const words = hasMatcher ? args.slice(1) : args
  const { condition, path, key } = hasMatcher ? matcherOf(first, matchers) : ANY
  const base = { name: name === 'handle_path' ? 'handle' : name, hasMatcher: hasMatcher && first !== '*' }
  const route = (handlers: readonly Handler[], group: object | null = null): Directive[] => [
    { ...base, path, key, route: { statement, condition, group, handlers } },
  ]
  const { env } = context
  switch (name) {
    case 'handle':
      statement.carried()
      return route([{ kind: 'routes', routes: readBlock(statement.block ?? [], context, matchers) }], groups.handle)
    case 'handle_path': {
      statement.carried()
      const cut = first.replace(/\/?\*$/, '')
      const inner = readBlock(statement.block ?? [], context, matchers)
      const strip = cut === '' ? [] : stripRoutes(statement, cut, first.endsWith('/*'))
      return route(
        [
          { kind: 'routes', routes: strip },
          { kind: 'routes', routes: inner },
        ],
        groups.handle,
      )
    }
    case 'route':
      statement.carried()
      return route([{ kind: 'routes', routes: readBlock(statement.block ?? [], context, matchers, false) }])
    case 'invoke': {
      const named = context.namedRoutes.get(words[0] ?? '')
      if (named === undefined) break
      statement.carried()
      return route([
        { kind: 'routes', routes: readBlock(named.block ?? [], { ...context, namedRoutes: new Map() }, new Map()) },
      ])
    }
    case 'reverse_proxy':
      return route(reverseProxy(statement, words, env))
    case 'redir':
      return route([redirect(statement, words)])
    case 'respond':
      return route([respond(statement, words)])
    case 'error': {
      const status = Number(words.findLast((word) => /^\d{3}$/.test(word)) ?? 500)
      statement.changed('the response has no error text')
      return route([final((state) => statusReply(statement, status, state))])
    }
    case 'abort':
      statement.changed('requests get 403, because the gateway cannot close connections without a response', true)
      return route([final((state) => statusReply(statement, 403, state))])
    case 'header':
      return route([responseHeaders(statement, words, env)])
    case 'request_header':
      return route([requestHeader(statement, words, env)])
    case 'basicauth':
    case 'basic_auth':
      return route(basicAuth(statement, words, env))
    case 'forward_auth':
      return route(forwardAuth(statement, words, env))
    case 'rewrite':
      return route([rewrite(statement, words)], groups.rewrite)
    case 'uri':
      return route([uri(statement, words)])
    case 'try_files':
      statement.notCarried('the gateway serves no files; matching requests get 501')
      return route([unknownPath()])
    case 'method':
      statement.notCarried('the gateway cannot change the request method; matching requests get 501')
      return route([notImported(statement)])
    case 'file_server':
    case 'php_fastcgi':
    case 'acme_server':
    case 'metrics':
      statement.notCarried(`${DIRECTIVE_NOTES.get(name)}; matching requests get 501`)
      return route([notImported(statement)])
    default:
  }
  const note = DIRECTIVE_NOTES.get(name)
  if (note !== undefined) {
    for (const each of statement.block ?? []) each.hint('the directive around this line is not carried')
    // `readSite` has marked the certificate and the address of the site.
    statement.hint(note)
    return IS_NO_HANDLER.has(name) ? [] : route([])
  }
  if (!isProtective(name)) {
    statement.notCarried('the importer does not know this directive')
    return route([])
  }
  statement.notCarried(
    'the importer does not know this directive, which may restrict access; requests get 403 until you configure a replacement',
    true,
  )
  return route([closed(statement)])
}

function matcherOf(text: string, matchers: Matchers): Matcher {
  if (text === '*') return ANY
  if (text.startsWith('/')) return pathMatcher(text)
  return (
    matchers.get(text) ?? {
      condition: { kind: 'unknown', why: `the file does not define the matcher ${text.slice(0, 40)}` },
      path: null,
      key: text,
    }
  )
}

function respond(statement: Statement, words: readonly string[]): Handler {
  const lines = statement.block ?? []
  const [first = ''] = words
  const isStatus = words.length === 1 && /^\d{3}$/.test(first)
  const status = Number(isStatus ? first : (words[1] ?? 200))
  const body = lines.find(({ name }) => name === 'body')?.args[0] ?? (isStatus ? '' : first)
  for (const line of lines) {
    if (line.name === 'body') line.carried()
    else line.notCarried('the gateway keeps connections open')
  }
  if (!(status >= 200 && status <= 599)) {
    statement.notCarried('the status cannot be a direct response; matching requests get 501')
    return notImported(statement)
  }
  const isLiteral = !/\{[\w.$-]+\}/.test(body) && body.length <= 4_096
  if (isLiteral) statement.carried()
  else statement.changed('the response has no text, because the text has placeholders or is too long')
  const text = isLiteral && body !== '' ? body : undefined
  const type = text === undefined ? undefined : isJson(text) ? 'application/json' : 'text/plain; charset=utf-8'
  const response = text === undefined ? {} : { body: text, headers: [{ name: 'content-type', value: type }] }
  return final((state) => statusReply(statement, status, state, response))
}

function isJson(text: string): boolean {
  try {
    return /^\s*[{[]/.test(text) && JSON.parse(text) !== undefined
  } catch {
    return false
  }
}
