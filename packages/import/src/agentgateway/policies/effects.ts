import type { Field } from '../../core/yaml-field.ts'
import type { ClosedStatus, Convert, Scope } from '../values/convert.ts'
import { whyInvalid } from '../values/validity.ts'

/** The policies of one place, in the form of the new config. */
export interface Effects {
  readonly policies: Readonly<Record<string, unknown>>
  /** The status of requests whose policies cannot be imported; null when they are complete. */
  readonly status: ClosedStatus | null
}

export const NO_EFFECTS: Effects = { policies: {}, status: null }

/**
 * The need for a policy: without `protection`, requests are denied; without a change for the `upstream`, requests do not
 * reach the upstream; others are only reported.
 */
type Need = 'protection' | 'upstream' | 'extra'

interface PolicyReader {
  /** The place of the policy in the new config, such as `backend.mcp.authorization`; empty for several policies. */
  readonly path: readonly string[]
  readonly convert: Convert
  readonly need: Need
}

/** Readers by the name of the policy; a group has readers for its members. */
export interface PolicyTable {
  readonly [name: string]: PolicyReader | { readonly group: PolicyTable }
}

export function reader(path: string, need: Need, convert: Convert): PolicyReader {
  return { path: path === '' ? [] : path.split('.'), convert, need }
}

type Section = 'traffic' | 'backend' | 'frontend'

const NOTES: Readonly<Record<Need, string>> = {
  protection: 'requests get 403 until you replace it',
  upstream: 'requests get 501 until you replace it',
  extra: '',
}

/** Reads a mapping of policies. A policy that no reader knows may protect, so its requests are denied. */
export function readPolicies(field: Field | null, table: PolicyTable, scope: Scope, section: Section): Effects {
  if (field === null) return NO_EFFECTS
  if (!field.isMapping) {
    field.notCarried(`expected a mapping; ${NOTES.protection}`, true)
    return { policies: {}, status: 403 }
  }
  const policies: Record<string, unknown> = {}
  const statuses: ClosedStatus[] = []
  for (const [name, member] of field.members) {
    if (member.scalar === null) continue
    const known = Object.hasOwn(table, name) ? table[name] : undefined
    if (known === undefined) {
      member.notCarried(`the importer does not know this policy; ${NOTES.protection}`, true)
      statuses.push(403)
    } else if ('group' in known) {
      const inner = readPolicies(member, known.group, scope, section)
      if (inner.status !== null) statuses.push(inner.status)
      if (!merge(policies, inner.policies)) statuses.push(refuse(member, 'another policy has its place', 'upstream'))
    } else {
      const status = readPolicy(member, known, scope, { section, policies })
      if (status !== null) statuses.push(status)
    }
  }
  return { policies, status: statuses.includes(403) ? 403 : (statuses[0] ?? null) }
}

function readPolicy(
  field: Field,
  { path, convert, need }: PolicyReader,
  scope: Scope,
  { section, policies }: { section: Section; policies: Record<string, unknown> },
): ClosedStatus | null {
  const value = convert(field, scope)
  const isLossy = need !== 'extra' && field.amendLosses(NOTES[need], need === 'protection')
  if (isLossy) return statusOf(need)
  if (value === undefined) return null
  const wrapped = path.length === 0 ? (value as Record<string, unknown>) : wrap(path, value)
  for (const [name, content] of Object.entries(wrapped)) {
    const isBackend = section === 'traffic' && name === 'backend'
    const inner = isBackend ? Object.entries(content as object) : [[name, content]]
    for (const [each, policy] of inner as [string, unknown][]) {
      const why = whyInvalid(isBackend ? 'backend' : section, each, policy, scope)
      if (why === null) continue
      refuse(field, why, need)
      return statusOf(need)
    }
  }
  if (merge(policies, wrapped)) return null
  refuse(field, 'another policy has its place', need)
  return statusOf(need)
}

function statusOf(need: Need): ClosedStatus | null {
  return need === 'extra' ? null : need === 'protection' ? 403 : 501
}

function refuse(field: Field, why: string, need: Need): 403 | 501 {
  field.notCarried([why, NOTES[need]].filter((part) => part !== '').join('; '), need === 'protection')
  return need === 'protection' ? 403 : 501
}

function wrap(path: readonly string[], value: unknown): Record<string, unknown> {
  const [first = '', ...rest] = path
  return { [first]: rest.length === 0 ? value : wrap(rest, value) }
}

/** Adds members to a tree, unless it has one of them; conditional forms stand alone. */
export function merge(target: Record<string, unknown>, added: Readonly<Record<string, unknown>>): boolean {
  for (const [name, value] of Object.entries(added)) {
    const found = target[name]
    if (found === undefined) target[name] = value
    else if (!isTree(found) || !isTree(value)) return false
    else if ('conditional' in found || 'conditional' in value) return false
    else {
      const copy = { ...found }
      if (!merge(copy, value)) return false
      target[name] = copy
    }
  }
  return true
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
