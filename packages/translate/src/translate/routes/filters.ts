import type { Fields } from '../../resources/fields.ts'
import {
  type BackendReference,
  type ObjectReference,
  readBackendRef,
  readReference,
} from '../../resources/references.ts'
import { type AuthorizerPlan, readExternalAuth } from '../backends/external-auth.ts'
import type { Unusable } from '../materials.ts'

/** The filters of a rule or a backend, as policies in the form of the config file and calls to backends. */
export interface FilterPlan {
  policies: Record<string, unknown>
  mirrors: { to: BackendReference; percentage: number }[]
  authorizer: AuthorizerPlan | null
  /** Objects of the same namespace that filters of type ExtensionRef name. */
  extensions: ObjectReference[]
}

export const NO_FILTERS: FilterPlan = { policies: {}, mirrors: [], authorizer: null, extensions: [] }

export const httpFilters = [
  'RequestHeaderModifier',
  'ResponseHeaderModifier',
  'RequestRedirect',
  'URLRewrite',
  'RequestMirror',
  'CORS',
  'ExternalAuth',
  'ExtensionRef',
] as const

export const grpcFilters = ['RequestHeaderModifier', 'ResponseHeaderModifier', 'RequestMirror', 'ExtensionRef'] as const

/** Filters that apply to one backend of several. */
export const backendFilters = ['RequestHeaderModifier', 'ResponseHeaderModifier', 'URLRewrite'] as const

/** Filters of a backend that gets all requests of its rule. */
export const onlyBackendFilters = [...backendFilters, 'RequestMirror'] as const

type FilterName = (typeof httpFilters)[number]

export function readFilters(owner: Fields, namespace: string, supported: readonly FilterName[]): FilterPlan | Unusable {
  const plan: FilterPlan = { policies: {}, mirrors: [], authorizer: null, extensions: [] }
  for (const filter of owner.objects('filters')) {
    const type = filter.text('type') ?? ''
    const name = supported.find((each) => each === type)
    if (name === undefined) {
      filter.raw(type)
      return { reason: 'UnsupportedValue', message: `Filter ${type} is not supported here` }
    }
    const problem = addFilter(plan, name, filter, namespace)
    if (problem !== null) return problem
    filter.done()
  }
  if (plan.policies['requestRedirect'] !== undefined && plan.policies['urlRewrite'] !== undefined) {
    return { reason: 'IncompatibleFilters', message: 'RequestRedirect and URLRewrite cannot be combined' }
  }
  return plan
}

function addFilter(plan: FilterPlan, name: FilterName, filter: Fields, namespace: string): Unusable | null {
  const { policies } = plan
  const twice = (): Unusable => ({ reason: 'IncompatibleFilters', message: `Filter ${name} occurs twice` })
  switch (name) {
    case 'RequestHeaderModifier':
      addHeaders(policies, 'request', filter.object('requestHeaderModifier'))
      return null
    case 'ResponseHeaderModifier':
      addHeaders(policies, 'response', filter.object('responseHeaderModifier'))
      return null
    case 'RequestRedirect':
      if (policies['requestRedirect'] !== undefined) return twice()
      policies['requestRedirect'] = redirect(filter.object('requestRedirect'))
      return null
    case 'URLRewrite':
      if (policies['urlRewrite'] !== undefined) return twice()
      policies['urlRewrite'] = rewrite(filter.object('urlRewrite'))
      return null
    case 'CORS':
      if (policies['cors'] !== undefined) return twice()
      policies['cors'] = cors(filter.object('cors'))
      return null
    case 'RequestMirror':
      return addMirror(plan, filter.object('requestMirror'), namespace)
    case 'ExtensionRef': {
      const fields = filter.object('extensionRef')
      const to = readReference(fields, { group: '', kind: '', namespace })
      fields.done()
      if (to === undefined) return { reason: 'UnsupportedValue', message: 'ExtensionRef has no name' }
      plan.extensions.push({ ...to, namespace })
      return null
    }
    case 'ExternalAuth': {
      if (plan.authorizer !== null) return twice()
      const found = readExternalAuth(filter.object('externalAuth'), namespace)
      if ('reason' in found) return found
      plan.authorizer = found
      return null
    }
  }
}

/** Joins the lists of several filters. */
function addHeaders(policies: Record<string, unknown>, side: 'request' | 'response', fields: Fields): void {
  const all = (policies['headerModifiers'] ??= {}) as Record<string, Record<string, unknown[]>>
  const changes = (all[side] ??= {})
  for (const kind of ['set', 'add'] as const) {
    const headers = fields.objects(kind).map((header) => {
      const found = { name: header.text('name'), value: header.text('value') }
      header.done()
      return found
    })
    if (headers.length > 0) (changes[kind] ??= []).push(...headers)
  }
  const removed = fields.texts('remove')
  if (removed.length > 0) (changes['remove'] ??= []).push(...removed)
  fields.done()
}

function redirect(fields: Fields): object {
  const [hostname, port] = [fields.text('hostname'), fields.integer('port', { min: 1, max: 65_535 })]
  const authority =
    hostname === undefined
      ? port === undefined
        ? undefined
        : { port }
      : port === undefined
        ? { host: hostname }
        : { full: `${hostname}:${port}` }
  const config = {
    ...(fields.has('scheme') && { scheme: fields.text('scheme') }),
    ...(authority !== undefined && { authority }),
    ...(fields.has('path') && { path: pathChange(fields.object('path')) }),
    ...(fields.has('statusCode') && { status: fields.integer('statusCode') }),
  }
  fields.done()
  return config
}

function rewrite(fields: Fields): object {
  const config = {
    ...(fields.has('hostname') && { authority: { full: fields.text('hostname') } }),
    ...(fields.has('path') && { path: pathChange(fields.object('path')) }),
  }
  fields.done()
  return config
}

function pathChange(fields: Fields): object {
  const type = fields.choice('type', ['ReplaceFullPath', 'ReplacePrefixMatch'])
  const [full, prefix] = [fields.text('replaceFullPath'), fields.text('replacePrefixMatch')]
  fields.done()
  return type === 'ReplacePrefixMatch' ? { prefix: prefix === '' ? '/' : prefix } : { full: full === '' ? '/' : full }
}

function cors(fields: Fields): object {
  const config = {
    allowOrigins: fields.texts('allowOrigins'),
    allowMethods: fields.texts('allowMethods'),
    allowHeaders: fields.texts('allowHeaders'),
    exposeHeaders: fields.texts('exposeHeaders'),
    allowCredentials: fields.flag('allowCredentials') ?? false,
    maxAge: fields.integer('maxAge', { min: 1 }) ?? 5,
  }
  fields.done()
  return config
}

function addMirror({ mirrors }: FilterPlan, fields: Fields, namespace: string): Unusable | null {
  const reference = fields.object('backendRef')
  const to = readBackendRef(reference, namespace)
  reference.done()
  const percent = fields.integer('percent', { max: 100 })
  const fraction = fields.object('fraction')
  const [numerator, denominator = 100] = [fraction.integer('numerator'), fraction.integer('denominator', { min: 1 })]
  fraction.done()
  fields.done()
  if (to === undefined) return { reason: 'UnsupportedValue', message: 'RequestMirror has no backend' }
  const percentage = percent ?? (numerator === undefined ? 100 : Math.min(100, (numerator / denominator) * 100))
  if (percentage > 0) mirrors.push({ to, percentage })
  return null
}
