import type { Field } from '../../core/yaml-field.ts'
import { type Effects, merge, readPolicies } from '../policies/effects.ts'
import { BACKEND_POLICIES } from '../policies/tables.ts'
import { type ClosedStatus, lost, type Scope, type TestedBackend } from '../values/convert.ts'
import { type Provider, readProvider } from './providers.ts'

/** An imported backend, in the form of the Portico config. */
export interface ReadBackend {
  /** The kind of the backend with its settings, such as `{ host }` or `{ ai }`. */
  readonly backend: Readonly<Record<string, unknown>>
  readonly policies: Readonly<Record<string, unknown>>
  readonly status: ClosedStatus | null
  readonly tested: TestedBackend
}

export const UNKNOWN: TestedBackend = { kind: 'unknown' }

/** Returns a placeholder for a backend that cannot be imported. */
export function unusable(status: ClosedStatus): ReadBackend {
  return { backend: {}, policies: {}, status, tested: UNKNOWN }
}

/** Reads a backend of language models: one provider, or groups of providers. */
export function readAi(field: Field, scope: Scope): ReadBackend {
  const groups = field.get('groups')
  if (groups === null) return readSingle(field, scope)
  const read = groups.items.map((group) => (group.get('providers')?.items ?? []).map((each) => readNamed(each, scope)))
  const all = read.flat()
  if (all.length === 0) lost(groups, 'the groups have no provider; requests get 501')
  const status = all.length === 0 ? 501 : worst(all.map((each) => each.status))
  const providers = read.map((group) => ({ providers: group.map((each) => each.entry) }))
  return { backend: { ai: { groups: providers } }, policies: {}, status, tested: UNKNOWN }
}

function readSingle(field: Field, scope: Scope): ReadBackend {
  field.get('name')?.carried('Portico does not need this name')
  const effects = readPolicies(field.get('policies'), BACKEND_POLICIES, scope, 'backend')
  const found = readProvider(field, scope)
  const isLost = amendOthers(field)
  if (found === undefined) return unusable(effects.status ?? 501)
  const { provider, address, model } = found
  const isTested = address !== null && !('path' in provider)
  return {
    backend: { ai: { provider } },
    policies: withCredential(found, effects).policies,
    status: worst([effects.status, isLost ? 501 : null]),
    tested: isTested ? { kind: 'model', address, model } : UNKNOWN,
  }
}

function readNamed(field: Field, scope: Scope): { entry: object; status: ClosedStatus | null } {
  const name = field.get('name')
  name?.carried()
  const effects = readPolicies(field.get('policies'), BACKEND_POLICIES, scope, 'backend')
  const found = readProvider(field, scope)
  const isLost = amendOthers(field)
  if (found === undefined) return { entry: {}, status: effects.status ?? 501 }
  const { policies } = withCredential(found, effects)
  const entry = {
    name: objectName(name?.text ?? 'provider'),
    ...found.provider,
    ...(Object.keys(policies).length > 0 && { policies }),
  }
  return { entry, status: worst([effects.status, isLost ? 501 : null]) }
}

/**
 * Adds a note to all fields of a backend that are not carried, except the fields of its policies: requests get 501.
 * Returns whether there are such fields.
 */
export function amendOthers(field: Field): boolean {
  const others = field.members.flatMap(([name, member]) => (name === 'policies' ? [] : [member]))
  return others
    .map((each) => each.amendLosses('requests get 501 until you configure a replacement', false))
    .includes(true)
}

/** Adds the identity of the machine as the credential of a cloud provider that has no other credential. */
function withCredential({ cloud }: Provider, effects: Effects): Effects {
  if (cloud === null) return effects
  const policies: Record<string, unknown> = { ...effects.policies }
  merge(policies, { auth: { [cloud]: {} } })
  return { ...effects, policies: 'auth' in effects.policies ? effects.policies : policies }
}

export function worst(statuses: readonly (ClosedStatus | null)[]): ClosedStatus | null {
  return statuses.includes(403) ? 403 : (statuses.find((status) => status !== null) ?? null)
}

/** Turns a text into a name that the Portico config accepts for an object. */
export function objectName(text: string): string {
  const slug = text
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
    .slice(0, 55)
    .replaceAll(/[^A-Za-z0-9]+$/g, '')
  return slug === '' ? 'unnamed' : slug
}
