import type { Field } from '../../core/yaml-field.ts'
import type { ClosedStatus, Convert, Scope } from '../values/convert.ts'
import { whyInvalid } from '../values/validity.ts'

/** The imported policies of one object of the config, such as a route or a backend. */
export interface Effects {
  readonly policies: Readonly<Record<string, unknown>>
  /**
   * The status for all requests of the object when a policy cannot be imported; null when all policies are imported.
   */
  readonly status: ClosedStatus | null
}

export const NO_EFFECTS: Effects = { policies: {}, status: null }

/**
 * How necessary a policy is. If a `protection` cannot be imported, its requests get 403. If an `upstream` policy cannot
 * be imported, its requests get 501. If an `extra` policy cannot be imported, the import report says so.
 */
type Need = 'protection' | 'upstream' | 'extra'

interface PolicyReader {
  /**
   * The path of the policy in the Portico config, such as `backend.mcp.authorization`; empty when the reader returns
   * several policies by name.
   */
  readonly path: readonly string[]
  readonly convert: Convert
  readonly need: Need
}

/** The readers of policies by policy name. A group has readers for its members. */
export interface PolicyTable {
  readonly [name: string]: PolicyReader | { readonly group: PolicyTable }
}

export function reader(path: string, need: Need, convert: Convert): PolicyReader {
  return { path: path === '' ? [] : path.split('.'), convert, need }
}

type Section = 'traffic' | 'backend' | 'frontend'

const NOTES: Readonly<Record<Need, string>> = {
  protection: 'requests get 403 until you configure a replacement',
  upstream: 'requests get 501 until you configure a replacement',
  extra: '',
}

/**
 * Reads a mapping of policies. Denies all requests if a policy has no reader, because the policy may restrict access.
 */
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
      if (!merge(policies, inner.policies))
        statuses.push(refuse(member, 'another policy sets the same part of the Portico config', 'upstream'))
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
  refuse(field, 'another policy sets the same part of the Portico config', need)
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

/**
 * Adds members to a tree of policies. Returns false when a member exists already or when one of two merged members is
 * conditional.
 */
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
