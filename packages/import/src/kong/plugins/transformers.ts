import { Variable } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import { isPlainPath } from '../../http/paths.ts'
import { textsOf } from '../entities.ts'
import { variableOfText } from '../placeholders.ts'
import type { Plugin } from '../scopes.ts'
import { closes, type Effect, effectOf, type PluginState, type ReadPlugin, type Surroundings } from './plugin.ts'

const SECRET = /authorization|api-?key|token|secret|password|cookie/i
const OWN =
  /^(x-forwarded-(for|proto|host|port)|connection|upgrade|content-length|transfer-encoding|te|trailer|keep-alive|proxy-connection)$/i
const VERBS = ['remove', 'rename', 'replace', 'add', 'append', 'allow'] as const

interface HeaderChange {
  readonly verb: (typeof VERBS)[number]
  readonly name: string
  /** The value of the header, as an expression or a variable. For `rename`, the new name of the header. */
  readonly value: string | Variable
}

/**
 * The result for a change without a counterpart: `skipped` leaves the change out; `lost` closes the routes of the
 * plugin, because the change may protect them.
 */
type NoChange = 'skipped' | 'lost'

/**
 * The most header changes of a plugin. A transformation policy has at most 16, and the gateway needs some of them
 * itself.
 */
const MOST_HEADERS = 12

export function readRequestTransformer(plugin: Plugin, { variables }: Surroundings): ReadPlugin {
  const { config } = plugin
  const effects: Effect[] = []
  let lost = ''
  const method = config.get('http_method')
  if (method !== null && /^[A-Z]{1,20}$/.test(method.text ?? '')) {
    method.carried()
    effects.push((state, when) => withHeader(state, ':method', JSON.stringify(method.text), when))
  }
  for (const verb of VERBS) {
    const part = config.get(verb)
    for (const [place, field] of part?.members ?? []) {
      if (isEmpty(field)) field.carried()
      else if (place === 'headers') {
        for (const change of readHeaders(field, verb, variables, true)) {
          if (change === 'lost') lost = 'a header'
          else if (change !== 'skipped') effects.push(requestHeader(change))
        }
      } else if (place === 'querystring' && ['add', 'replace'].includes(verb) && isPlain(textsOf(field))) {
        field.changed(
          verb === 'add'
            ? 'the gateway adds the parameter even if the client sends it'
            : 'the gateway sets the parameter even if the client does not send it',
        )
        for (const text of textsOf(field)) effects.push(queryParameter(text))
      } else if (
        place === 'uri' &&
        verb === 'replace' &&
        isPlainPath(field.text ?? '') &&
        !(field.text ?? '').includes('$')
      ) {
        field.carried()
        effects.push(replacedPath(field.text ?? ''))
      } else {
        field.notCarried('configure a transformation: docs/policies/traffic-transformation.md', true)
        lost = place
      }
    }
  }
  if (lost !== '') return closes(plugin, `the change of ${lost.slice(0, 20)} has no counterpart`)
  return effectOf(inOrder(effects))
}

export function readResponseTransformer(plugin: Plugin, { variables }: Surroundings): ReadPlugin {
  const { config } = plugin
  const effects: Effect[] = []
  let isLost = false
  for (const verb of VERBS) {
    const part = config.get(verb)
    for (const [place, field] of part?.members ?? []) {
      if (isEmpty(field) || /_types$/.test(place)) field.carried()
      else if (place === 'headers' && verb !== 'allow') {
        for (const change of readHeaders(field, verb, variables, false)) {
          if (change === 'lost') isLost = true
          else if (change !== 'skipped') effects.push(responseHeader(change))
        }
      } else {
        field.notCarried('configure a transformation: docs/policies/traffic-transformation.md', true)
        isLost = true
      }
    }
  }
  if (isLost) return closes(plugin, 'a change of the response has no counterpart')
  return effectOf(inOrder(effects))
}

function inOrder(effects: readonly Effect[]): Effect {
  return (state, when, route) => {
    let found: PluginState | null = state
    for (const effect of effects) found = found === null ? null : effect(found, when, route)
    if (found === null || found.request.length > MOST_HEADERS || found.response.length > MOST_HEADERS) return null
    return found
  }
}

function isEmpty(field: Field): boolean {
  return field.text === null ? field.items.length === 0 && field.members.length === 0 : field.text === ''
}

function isPlain(texts: readonly string[]): boolean {
  return texts.every((text) => /^[\w.-]+:[^$]*$/.test(text) && !/[^\x20-\x7e]/.test(text))
}

/** Reads a list of headers, written as `name:value` or as names without values. */
function readHeaders(
  field: Field,
  verb: HeaderChange['verb'],
  variables: Surroundings['variables'],
  isRequest: boolean,
): (HeaderChange | NoChange)[] {
  field.carried()
  const items = field.text === null ? field.items : [field]
  return items.map((item) => {
    const [, name = '', value = ''] = /^([^:]*)(?::([^]*))?$/.exec(item.text ?? '') ?? []
    const [lower, found] = [name.trim().toLowerCase(), value.trim()]
    const isOther = verb === 'allow' || (verb === 'rename' && (!isRequest || !NAME.test(found)))
    if (!NAME.test(lower) || OWN.test(lower) || isOther) {
      item.notCarried(
        isOther ? 'the gateway cannot limit headers to a list' : 'the gateway sets this header itself',
        isOther,
      )
      return isOther ? 'lost' : 'skipped'
    }
    if (verb === 'rename') return { verb, name: lower, value: found.toLowerCase() }
    const named = variableOfText(found)
    if (named === null && (found === '' || verb === 'remove' || !SECRET.test(lower))) {
      const text = isRequest ? expressionOf(found) : /\$\(|[^\x20-\x7e]/.test(found) ? null : found
      if (text !== null) return { verb, name: lower, value: text }
      // A client could forge the header if the plugin does not replace it, so the change counts as protection.
      const isLost = isRequest && verb === 'replace'
      item.notCarried('the value is a template without a counterpart', isLost)
      return isLost ? 'lost' : 'skipped'
    }
    const variable = named ?? variables.ofField(item, lower, 'example')
    variables.add(variable, 'example')
    item.changed(`the value is taken from the environment variable ${variable}`)
    return { verb, name: lower, value: new Variable(variable) }
  })
}

const NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** Returns an expression for a value with templates of headers and query parameters; null for other templates. */
function expressionOf(text: string): string | null {
  const parts: string[] = []
  for (const [part, source, dot, quoted] of text.matchAll(
    /\$\((headers|query_params)(?:\.([\w-]+)|\[["']([\w-]+)["']\])\)|\$\(|[^$]+|\$/g,
  )) {
    const name = JSON.stringify((dot ?? quoted ?? '').toLowerCase())
    if (source === 'headers') parts.push(`request.headers[${name}]`)
    else if (source === 'query_params') parts.push(`request.uri.query(${JSON.stringify(dot ?? quoted)})[0]`)
    else if (part === '$(' || /[^\x20-\x7e]/.test(part)) return null
    else parts.push(JSON.stringify(part))
  }
  return parts.length === 0 ? '""' : parts.join(' + ')
}

function withHeader(state: PluginState, name: string, value: string | object, when: string | null): PluginState {
  return { ...state, request: [...state.request, { name, value, when }] }
}

function requestHeader({ verb, name, value }: HeaderChange): Effect {
  return (state, when) => {
    if (name === 'host') {
      const literal = typeof value === 'string' && /^"[a-z0-9.-]+(:\d+)?"$/i.test(value) ? value.slice(1, -1) : null
      if (literal === null || when !== null || verb === 'remove') return null
      return { ...state, policies: { ...state.policies, urlRewrite: { authority: { full: literal } } } }
    }
    const quoted = JSON.stringify(name)
    const own = `request.headers[${quoted}]`
    if (typeof value !== 'string')
      return when === null && verb !== 'append' ? withHeader(state, name, value, null) : null
    switch (verb) {
      case 'remove':
        return withHeader(state, name, '[]', when)
      case 'rename':
        return withHeader(withHeader(state, value, own, when), name, '[]', when)
      case 'replace':
        return withHeader(state, name, `${quoted} in request.headers ? dyn(${value}) : dyn([])`, when)
      case 'append':
        return withHeader(state, name, `default(request.headers.raw()[${quoted}], []) + [${value}]`, when)
      case 'add':
        return withHeader(state, name, `default(${own}, ${value})`, when)
      case 'allow':
        return null
    }
  }
}

function responseHeader({ verb, name, value }: HeaderChange): Effect {
  return (state, when) => {
    if (typeof value !== 'string' && (when !== null || verb === 'add' || verb === 'replace')) return null
    const kind = { remove: 'remove', append: 'add', replace: 'replace', add: 'default' } as const
    const found = kind[verb as keyof typeof kind]
    return { ...state, response: [...state.response, { verb: found, name, value, when }] }
  }
}

function queryParameter(text: string): Effect {
  const [, name = '', value = ''] = /^([^:]*):([^]*)$/.exec(text) ?? []
  const call = `.setQuery(${JSON.stringify(name)}, ${JSON.stringify(value)})`
  return (state, when) => (when === null ? { ...state, queryCalls: [...state.queryCalls, call] } : null)
}

function replacedPath(path: string): Effect {
  return (state, when) => (when === null ? { ...state, newPath: path } : null)
}
