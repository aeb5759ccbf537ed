import { Fields } from './fields.ts'
import type { Resource } from './resource.ts'

export interface ServicePort {
  port: number
  /** Empty where there is only one. */
  name: string
  appProtocol: string | undefined
}

export function readService({ spec: input }: Resource): { type: string; ports: ServicePort[] } {
  const spec = new Fields(input, ['spec'], [])
  const ports = spec.objects('ports').flatMap((fields) => {
    const port = fields.integer('port', { min: 1, max: 65_535 })
    if (port === undefined || (fields.text('protocol') ?? 'TCP') !== 'TCP') return []
    return [{ port, name: fields.text('name') ?? '', appProtocol: fields.text('appProtocol') }]
  })
  return { type: spec.text('type') ?? 'ClusterIP', ports }
}

export interface EndpointSliceSpec {
  ports: { name: string; port: number }[]
  endpoints: { addresses: string[]; isReady: boolean; isServing: boolean }[]
}

/** Slices have no spec: what they say stands at the top. */
export function readEndpointSlice(resource: Resource): EndpointSliceSpec {
  const slice = new Fields(resource, [], [])
  return {
    ports: slice.objects('ports').flatMap((fields) => {
      const port = fields.integer('port', { min: 1, max: 65_535 })
      if (port === undefined || (fields.text('protocol') ?? 'TCP') !== 'TCP') return []
      return [{ name: fields.text('name') ?? '', port }]
    }),
    endpoints: slice.objects('endpoints').map((fields) => {
      const conditions = fields.object('conditions')
      // Unknown counts as ready.
      const isReady = conditions.flag('ready') ?? true
      return { addresses: fields.texts('addresses'), isReady, isServing: conditions.flag('serving') ?? isReady }
    }),
  }
}
