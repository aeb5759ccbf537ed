import type { BackendPolicies } from '@portico/gateway/schema'
import type { Fields } from '../../resources/fields.ts'
import { readBackendRef } from '../../resources/references.ts'
import { type ResolvedBackend, resolveBackend } from '../backends/backend-refs.ts'
import { validateTraffic } from '../validate-config.ts'
import type { Context } from '../context.ts'
import { type FilterPlan, NO_FILTERS, readFilters } from './filters.ts'
import type { Unusable } from '../materials.ts'

/** A backend of a rule with its own policies. */
export interface EntryPlan {
  weight: number
  to: ResolvedBackend | Unusable
  policies: BackendPolicies | null
  /** Targets for mirrored requests. */
  mirrors: FilterPlan['mirrors']
}

export function planEntry(
  context: Context,
  owner: { kind: string; namespace: string },
  {
    fields,
    supported,
    requestTimeout,
  }: {
    fields: Fields
    /** Filters that the backend may have; null in routes without HTTP, whose backends have no such field. */
    supported: Parameters<typeof readFilters>[2] | null
    requestTimeout: number | undefined
  },
): EntryPlan {
  const reference = readBackendRef(fields, owner.namespace)
  const filters = supported === null ? NO_FILTERS : readFilters(fields, owner.namespace, supported)
  fields.done()
  const weight = reference?.weight ?? 1
  const nothing: Unusable = { reason: 'BackendNotFound', message: 'The backendRef has no name' }
  const checkedFilters = 'reason' in filters ? filters : validateTraffic(filters.policies)
  if ('reason' in checkedFilters) return { weight, to: checkedFilters, policies: null, mirrors: [] }
  const to = reference === undefined ? nothing : resolveBackend(context, owner, reference)
  const { headerModifiers: headers, urlRewrite } = checkedFilters.traffic
  const policies: BackendPolicies = {
    ...(urlRewrite !== undefined && { urlRewrite }),
    ...(headers !== undefined && { transformation: asTransformation(headers) }),
    ...(requestTimeout !== undefined && { http: httpWithTimeout(to, requestTimeout) }),
  }
  const gets = 'reason' in to || 'reason' in filters || weight === 0 ? NO_FILTERS : filters
  return { weight, to, policies: Object.keys(policies).length === 0 ? null : policies, mirrors: gets.mirrors }
}

/** Returns the HTTP settings of a backend with a limit for each call; they replace those that the backend has. */
export function httpWithTimeout(to: EntryPlan['to'], requestTimeout: number): NonNullable<BackendPolicies['http']> {
  const target = 'reason' in to ? null : to.backend.target
  const ownVersion = target?.kind === 'service' || target?.kind === 'inferencePool' ? target.version : null
  const version = 'reason' in to ? null : (to.version ?? ownVersion)
  return { requestTimeout, ...(version !== null && { version }) }
}

interface HeaderChanges {
  set?: { name: string; value: string }[] | undefined
  add?: { name: string; value: string }[] | undefined
  remove?: string[] | undefined
}

/** Converts literal header changes to those of one backend, which are expressions. */
function asTransformation(changes: {
  request?: HeaderChanges | undefined
  response?: HeaderChanges | undefined
}): NonNullable<BackendPolicies['transformation']> {
  const transform = ({ set, add, remove }: HeaderChanges) => ({
    ...(set !== undefined && { set: set.map(literal) }),
    ...(add !== undefined && { add: add.map(literal) }),
    ...(remove !== undefined && { remove }),
  })
  return {
    ...(changes.request !== undefined && { request: transform(changes.request) }),
    ...(changes.response !== undefined && { response: transform(changes.response) }),
  }
}

function literal({ name, value }: { name: string; value: string }): { name: string; value: string } {
  return { name, value: JSON.stringify(value) }
}
