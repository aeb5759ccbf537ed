import { effect } from '../../chain/effects.ts'
import type { Handler } from '../../chain/routes.ts'
import type { State } from '../../chain/state.ts'
import { Variable } from '../../core/config-yaml.ts'
import type { SecretVariables } from '../../core/secret-variables.ts'
import type { Field } from '../../core/yaml-field.ts'
import { hostPortOf } from '../../http/addresses.ts'
import { enumOf, listAt, memberAt } from './message.ts'
import { literalText, textExpression } from './substitution.ts'

type Side = 'request' | 'response'

/** The most changes of one kind that a config accepts. */
const MOST_CHANGES = 16
const SECRET = /authorization|api-?key|token|secret|password|cookie/i
const OWN = /^(connection|upgrade|content-length|transfer-encoding|te|trailer|keep-alive|proxy-connection)$/

/** Reads the header changes of a route, a virtual host or a route table, in the order in which Envoy applies them. */
export function readHeaderChanges(owner: Field | null, secrets: SecretVariables): Handler[] {
  return (['request', 'response'] as const).flatMap((side) => [
    ...listAt(owner, `${side}_headers_to_remove`).flatMap((field) => removal(side, field)),
    ...listAt(owner, `${side}_headers_to_add`).flatMap((field) => readHeaderOption(side, field, secrets)),
  ])
}

export function removal(side: Side, field: Field): Handler[] {
  const name = (field.text ?? '').toLowerCase()
  if (!isUsable(name)) {
    field.notCarried('the header name is not valid, or the gateway sets this header itself')
    return []
  }
  field.carried()
  return [
    change(side, field, (state) =>
      side === 'request'
        ? { ...state, request: [...state.request, { name, value: '[]', when: null }] }
        : { ...state, response: [...state.response, { verb: 'remove', name, value: '', when: null }] },
    ),
  ]
}

export function readHeaderOption(side: Side, option: Field, secrets: SecretVariables): Handler[] {
  const [key, value] = [memberAt(option, 'header', 'key'), memberAt(option, 'header', 'value')]
  const name = (key?.text ?? '').toLowerCase()
  const text = value?.text ?? ''
  const action = actionOf(option)
  memberAt(option, 'keep_empty_value')?.carried()
  if (name === 'host' || name === ':authority') return newHost(side, option, text)
  if (!isUsable(name) || /[^\x20-\x7e]/.test(text) || text.length > 4_096) {
    option.notCarried('the header name is not valid, or the gateway sets this header itself')
    return []
  }
  if (text === '' && memberAt(option, 'keep_empty_value')?.isTrue !== true) {
    option.notCarried('the header has no value, so Envoy does not send the header')
    return []
  }
  const literal = literalText(text)
  const expression = textExpression(text)
  if (expression === null || (literal === null && side === 'response')) {
    const isRemoved = action.startsWith('OVERWRITE')
    option.notCarried(
      `the value contains unknown command operators${isRemoved ? '; the header is removed' : ''}`,
      isRemoved,
    )
    return isRemoved ? removalOf(side, option, name) : []
  }
  const found = literal === null ? expression : secretOr(literal, name, value ?? option, secrets)
  if (typeof found === 'object') option.changed(`the value is taken from the environment variable ${found.name}`)
  else option.carried()
  return [change(side, option, (state) => withHeader(state, { side, name, action, value: found, literal }))]
}

function removalOf(side: Side, option: Field, name: string): Handler[] {
  return [
    change(side, option, (state) =>
      side === 'request'
        ? { ...state, request: [...state.request, { name, value: '[]', when: null }] }
        : { ...state, response: [...state.response, { verb: 'remove', name, value: '', when: null }] },
    ),
  ]
}

function actionOf(option: Field): string {
  const [action, append] = [memberAt(option, 'append_action'), memberAt(option, 'append')]
  return append?.text === 'false' ? 'OVERWRITE_IF_EXISTS_OR_ADD' : enumOf(action, 'APPEND_IF_EXISTS_OR_ADD')
}

function secretOr(literal: string, name: string, field: Field, secrets: SecretVariables): string | Variable {
  if (SECRET.test(name) && literal !== '') return new Variable(secrets.nameOf(field, name))
  return JSON.stringify(literal)
}

interface HeaderChange {
  readonly side: Side
  readonly name: string
  readonly action: string
  readonly value: string | Variable
  readonly literal: string | null
}

function withHeader(state: State, change: HeaderChange): State {
  const { side, name, action, value, literal } = change
  const isKnown = `${JSON.stringify(name)} in ${side}.headers`
  const presence = presenceOf(state, side, name)
  const isUseless =
    (action === 'ADD_IF_ABSENT' && presence === 'present') ||
    (action === 'OVERWRITE_IF_EXISTS' && presence === 'absent')
  if (isUseless) return state
  const conditional = presence === 'unknown' ? { ADD_IF_ABSENT: `!(${isKnown})`, OVERWRITE_IF_EXISTS: isKnown } : {}
  const when = (conditional as Readonly<Record<string, string>>)[action] ?? null
  const adds = action === 'APPEND_IF_EXISTS_OR_ADD'
  if (side === 'request') {
    const header = adds ? { name, value, when, isAdded: true as const } : { name, value, when }
    return { ...state, request: [...state.request, header] }
  }
  // The gateway removes headers after it has added others. So a header that is removed and then added must be set.
  const last = state.response.findLast((each) => each.name === name)
  const verb = adds && (last === undefined || last.verb === 'add') ? 'add' : 'set'
  const found = literal === null || typeof value === 'object' ? value : literal
  return { ...state, response: [...state.response, { verb, name, value: found, when }] }
}

/** Returns whether a message has a header after the changes so far. */
function presenceOf(state: State, side: Side, name: string): 'present' | 'absent' | 'unknown' {
  let found: 'present' | 'absent' | 'unknown' = 'unknown'
  for (const each of state[side]) {
    if (each.name !== name) continue
    const isRemoval = 'verb' in each ? each.verb === 'remove' : each.value === '[]'
    if (isRemoval) found = 'absent'
    // After a change that sets the header if it is absent, all messages have the header.
    else if (each.when === null || each.when.startsWith('!')) found = 'present'
  }
  return found
}

/**
 * Returns a handler for a header change. When the route has too many changes already, the change is reported as not
 * carried.
 */
function change(side: Side, field: Field, apply: (state: State) => State): Handler {
  return effect((state) => {
    const next = apply(state)
    const names = new Set(next[side].map(({ name }) => name))
    if (names.size < MOST_CHANGES && next[side].length <= MOST_CHANGES * 2) return next
    field.notCarried('a route can change at most 15 headers', true)
    return state
  })
}

function newHost(side: Side, option: Field, text: string): Handler[] {
  if (side === 'response' || hostPortOf(text, 80) === null) {
    option.notCarried('the new Host is not a valid hostname')
    return []
  }
  option.carried()
  return [effect((state) => ({ ...state, policies: { ...state.policies, urlRewrite: { authority: { full: text } } } }))]
}

function isUsable(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]{1,256}$/.test(name) && !OWN.test(name)
}
