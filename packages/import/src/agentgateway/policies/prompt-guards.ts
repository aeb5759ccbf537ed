import type { Field } from '../../core/yaml-field.ts'
import {
  capitalized,
  choice,
  type Convert,
  list,
  lost,
  mapping,
  membersOf,
  scalar,
  type Scope,
} from '../values/convert.ts'
import { named, serviceReference } from '../values/targets.ts'
import type { PoliciesOfCalls } from './services.ts'

const DEFAULT_MESSAGE = 'The request was rejected due to inappropriate content'

/** Reads the guards of prompts and of model responses. */
export function promptGuard(policiesOf: PoliciesOfCalls): Convert {
  const guards: Convert = (field, scope) => {
    const items = field.isMapping ? [field] : field.items
    return items.flatMap((item) => guardsOf(item, scope, policiesOf))
  }
  return (field, scope) => {
    if (!field.isMapping) return lost(field, 'expected a mapping')
    const found = membersOf(field, { request: guards, response: guards }, scope)
    return Object.fromEntries(Object.entries(found).filter(([, list]) => (list as unknown[]).length > 0))
  }
}

/** Reads the guards of one list entry. Old agentgateway files have guards of several kinds in one entry. */
function guardsOf(field: Field, scope: Scope, policiesOf: PoliciesOfCalls): object[] {
  if (!field.isMapping) return []
  const policies: Convert = (each, inner) => policiesOf(each, inner)
  const kinds = membersOf(
    field,
    {
      webhook: webhook(policiesOf),
      regex: regexGuard,
      openAIModeration: mapping({ model: scalar, policies }),
      openaiModeration: ['openAIModeration', mapping({ model: scalar, policies })],
      bedrockGuardrails: mapping({
        guardrailIdentifier: ['identifier', scalar],
        guardrailVersion: ['version', scalar],
        identifier: scalar,
        version: scalar,
        region: scalar,
        policies,
      }),
      googleModelArmor: mapping({ templateId: scalar, projectId: scalar, location: scalar, policies }),
    },
    scope,
  )
  const rejection = field.get('rejection')
  const response = rejection === null ? { message: DEFAULT_MESSAGE } : rejectionOf(rejection, scope)
  const found = Object.entries(kinds)
  if (found.length === 0) lost(field, 'the importer does not know this guard')
  return found.map(([kind, settings]) => ({ [kind]: settings, response }))
}

function rejectionOf(field: Field, scope: Scope): object {
  const inner = field.get('response') ?? field
  inner.get('headers')?.changed("Portico's response has no additional headers")
  const { body, status } = membersOf(inner, { body: bodyText, status: scalar }, scope)
  return { message: body ?? DEFAULT_MESSAGE, ...(status !== undefined && { statusCode: status }) }
}

/** Reads a response body, which may be written as a text or as a list of bytes. */
const bodyText: Convert = (field, scope) => {
  const bytes = field.items.map(({ number }) => number)
  if (bytes.length === 0) return scalar(field, scope)
  if (bytes.some((byte) => byte === null)) return lost(field, 'expected a text')
  field.carried()
  return new TextDecoder().decode(Uint8Array.from(bytes as number[]))
}

const BUILTINS = { ssn: 'Ssn', creditCard: 'CreditCard', phoneNumber: 'PhoneNumber', email: 'Email', caSin: 'CaSin' }

const action: Convert = (field, scope) => {
  const word = field.isMapping ? (field.members[0]?.[0] ?? '') : null
  if (word === null) return capitalized('mask', 'reject')(field, scope)
  if (word !== 'reject') return lost(field, 'expected mask or reject')
  field.changed('Portico responds as `rejection` says')
  return 'Reject'
}

const regexGuard: Convert = (field, scope) => {
  if (!field.isMapping) return lost(field, 'expected a mapping')
  const rules = field.get('rules')?.items ?? []
  const found = { matches: [] as unknown[], builtins: [] as unknown[] }
  for (const rule of rules) {
    rule.get('name')?.carried('Portico does not need this name')
    const { builtin, pattern } = membersOf(rule, { builtin: choice(BUILTINS), pattern: scalar }, scope)
    if (builtin !== undefined) found.builtins.push(builtin)
    if (pattern !== undefined) found.matches.push(pattern)
    if (builtin === undefined && pattern === undefined) lost(rule, 'expected a pattern or a known builtin')
  }
  return { ...found, ...membersOf(field, { action }, scope) }
}

function webhook(policiesOf: PoliciesOfCalls): Convert {
  return (field, scope) => {
    const target = field.get('target') ?? field
    const reference = serviceReference(target, scope, (each) => policiesOf(each, scope))
    const host = reference?.host
    const backendRef = host === undefined ? reference : named(target, host, {}, scope)
    const match = mapping({ name: scalar, value: mapping({ exact: scalar, regex: scalar }) })
    const members = {
      forwardHeaderMatches: list(match),
      failureMode: capitalized('failClosed', 'failOpen'),
    }
    return { backendRef, ...membersOf(field, members, scope) }
  }
}
