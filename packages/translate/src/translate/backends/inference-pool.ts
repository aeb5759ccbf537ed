import type { Backend } from '@portico/gateway/ir'
import { printFieldProblem } from '../../resources/fields.ts'
import { type PickerReference, readInferencePool } from '../../resources/inference-pool.ts'
import { printReference } from '../../resources/references.ts'
import type { Context, Query } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { podEndpoints } from './pods.ts'
import { meshAddress, serviceBackend, type ServiceEndpoint, serviceKey } from './service.ts'

/** The key of an InferencePool in configs, `backend/pool/<namespace>/<name>`. */
export function poolKey(place: string): string {
  return `backend/pool/${place}`
}

/** The inverse of `poolKey`; null for other backends. */
export function placeOfPool(key: string): string | null {
  const parts = key.split('/')
  return parts.length === 4 && key.startsWith('backend/pool/') ? `${parts[2]}/${parts[3]}` : null
}

interface ReferredPool {
  backend: Backend
  /** Parts that are not served; routes to the pool report them. */
  ignored: string[]
}

/** Limits the wait for each message of a picker, in milliseconds. InferencePools have no field for it. */
const PICKER_TIMEOUT_MS = 5_000

/** An InferencePool as a backend, by `namespace/name`. */
export const poolBackend: Query<ReferredPool | Unusable> = {
  name: 'poolBackend',
  compute(context, place) {
    const resource = context.get('InferencePool', place)
    if (resource === undefined) return { reason: 'BackendNotFound', message: `InferencePool ${place} not found` }
    const { picker, version, problems } = readInferencePool(resource)
    const wrong = problems.find(({ code }) => code === 'wrong')
    if (wrong !== undefined) {
      return { reason: 'UnsupportedValue', message: `InferencePool ${place}: ${printFieldProblem(wrong)}` }
    }
    const problem = picker === null ? null : pickerProblem(context, picker)
    if (problem !== null && picker?.failureMode !== 'FailOpen') {
      return { reason: 'BackendNotFound', message: `InferencePool ${place}: endpoint picker: ${problem}` }
    }
    const target = {
      kind: 'inferencePool' as const,
      endpoints: null,
      version,
      picker:
        picker === null || problem !== null
          ? null
          : { backend: pickerKey(picker), failureMode: picker.failureMode, timeoutMs: PICKER_TIMEOUT_MS },
    }
    const ignored = problems.map((each) => `InferencePool ${place}: ${printFieldProblem(each)}`)
    if (problem !== null) ignored.push(`InferencePool ${place} is balanced without its endpoint picker: ${problem}`)
    return { backend: { key: poolKey(place), name: place, target }, ignored }
  },
}

/** Returns why the picker of a pool cannot be called, or null. */
export function pickerProblem(context: Context, picker: PickerReference): string | null {
  const { group, kind, port } = picker
  if (group !== '' || kind !== 'Service') {
    return `${group === '' ? kind : `${kind}.${group}`} cannot be an endpoint picker`
  }
  if (port === undefined) return `${printReference(picker)} needs a port`
  const found = context.read(serviceBackend, placeOfPicker(picker))
  return 'reason' in found ? found.message : null
}

/** The place of a picker ends in `:picker`, because pickers are called with TLS by default, and other callers are not. */
function placeOfPicker({ namespace, name, port = 0 }: PickerReference): string {
  return `${namespace}/${name}/${port}${PICKER_SUFFIX}`
}

function pickerKey(picker: PickerReference): string {
  return serviceKey(placeOfPicker(picker))
}

export const PICKER_SUFFIX = ':picker'

/** The addresses of the members of a pool, by `namespace/name`. */
export const poolMembers: Query<string[]> = {
  name: 'poolMembers',
  compute: (context, place) => context.read(poolEndpoints, place).map(({ at }) => at),
}

/**
 * The addresses of the members of a pool for a Gateway in a mesh, by `<trust domain> <namespace>/<name>`. Pods of the mesh
 * are marked, with their identity.
 */
export const meshPoolMembers: Query<string[]> = {
  name: 'meshPoolMembers',
  compute(context, arg) {
    const [trustDomain = '', place = ''] = arg.split(' ')
    return context.read(poolEndpoints, place).flatMap((endpoint) => meshAddress(context, endpoint, trustDomain))
  },
}

/** The members of a pool, by `namespace/name`: every target port of every ready Pod. */
const poolEndpoints: Query<ServiceEndpoint[]> = {
  name: 'poolEndpoints',
  compute(context, place) {
    const resource = context.get('InferencePool', place)
    if (resource === undefined) return []
    const { labels, ports } = readInferencePool(resource)
    return podEndpoints(context, resource.metadata.namespace ?? '', { labels, ports })
  },
}
