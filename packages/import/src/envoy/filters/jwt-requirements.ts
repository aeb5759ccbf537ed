import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt, membersOf } from '../messages/message.ts'
import type { JwtProvider } from './jwt-providers.ts'

/** A requirement for requests: a valid token of one of the providers. */
export interface Requirement {
  readonly providers: readonly JwtProvider[]
  /**
   * `Strict` requires a token, `Optional` also allows requests without a token, and `Permissive` allows all requests.
   */
  readonly mode: 'Strict' | 'Optional' | 'Permissive'
}

type Providers = ReadonlyMap<string, JwtProvider | string>

/** Reads a JwtRequirement; returns the reason as a string when it cannot be expressed. */
export function requirementOf(field: Field, providers: Providers): Requirement | string {
  const [entry] = membersOf(field)
  if (entry === undefined) return { providers: [], mode: 'Permissive' }
  const [name, value] = entry
  switch (name) {
    case 'provider_name':
      value.carried()
      return single(value.text ?? '', providers)
    case 'provider_and_audiences': {
      const found = single(memberAt(value, 'provider_name')?.text ?? '', providers)
      if (typeof found === 'string') return found
      const audiences = listAt(value, 'audiences').flatMap(({ text }) => text ?? [])
      value.carried()
      return { ...found, providers: found.providers.map((each) => ({ ...each, audiences })) }
    }
    case 'requires_any':
      return anyOf(listAt(value, 'requirements'), providers)
    case 'requires_all': {
      const parts = listAt(value, 'requirements')
      const [first] = parts
      if (first === undefined || parts.length > 1)
        return 'the requirement needs several tokens, and the gateway reads one token of a request'
      return requirementOf(first, providers)
    }
    case 'allow_missing':
    case 'allow_missing_or_failed':
      value.carried()
      return {
        providers: [...providers.values()].flatMap((each) => (typeof each === 'string' ? [] : [each])),
        mode: name === 'allow_missing' ? 'Optional' : 'Permissive',
      }
    default:
      return 'the requirement has no counterpart'
  }
}

function single(name: string, providers: Providers): Requirement | string {
  const found = providers.get(name) ?? `the filter has no provider named ${name.slice(0, 40)}`
  return typeof found === 'string' ? found : { providers: [found], mode: 'Strict' }
}

/**
 * Joins requirements of which one must hold. If one requirement allows missing tokens, the result allows missing tokens
 * too.
 */
function anyOf(fields: readonly Field[], providers: Providers): Requirement | string {
  const found: JwtProvider[] = []
  let mode: Requirement['mode'] = 'Strict'
  for (const field of fields) {
    const [kind = ''] = membersOf(field)[0] ?? []
    if (kind === 'allow_missing' || kind === 'allow_missing_or_failed') {
      field.carried()
      if (mode !== 'Permissive') mode = kind === 'allow_missing' ? 'Optional' : 'Permissive'
      continue
    }
    const part = requirementOf(field, providers)
    if (typeof part === 'string') return part
    if (part.mode === 'Permissive' || (part.mode === 'Optional' && mode === 'Strict')) mode = part.mode
    found.push(...part.providers)
  }
  const places = new Set(found.map(({ location }) => JSON.stringify(location)))
  return places.size > 1 ? 'the providers read tokens from different locations' : { providers: found, mode }
}
