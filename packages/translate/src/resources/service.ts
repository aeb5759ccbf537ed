import { type FieldProblem, Fields } from './fields.ts'
import type { Resource } from './resource.ts'

export interface ServicePort {
  port: number
  /** The name of the port; empty when it has none, which Kubernetes allows for the only port of a Service. */
  name: string
  appProtocol: string | undefined
}

interface ServiceSpec {
  type: string
  ports: ServicePort[]
  /** Whether session affinity binds clients to one Pod. */
  isAffine: boolean
  problems: FieldProblem[]
}

export function readService({ spec: input }: Resource): ServiceSpec {
  const problems: FieldProblem[] = []
  const spec = new Fields(input, ['spec'], problems)
  const ports = spec.objects('ports').flatMap((fields) => {
    const port = fields.integer('port', { min: 1, max: 65_535 })
    if (port === undefined || (fields.text('protocol') ?? 'TCP') !== 'TCP') return []
    return [{ port, name: fields.text('name') ?? '', appProtocol: fields.text('appProtocol') }]
  })
  const isAffine = spec.choice('sessionAffinity', ['None', 'ClientIP']) === 'ClientIP'
  return { type: spec.text('type') ?? 'ClusterIP', ports, isAffine, problems }
}

interface EndpointSliceSpec {
  ports: { name: string; port: number }[]
  endpoints: { addresses: string[]; isReady: boolean; isServing: boolean }[]
}

/** Reads an EndpointSlice, whose fields are at the top level. */
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
      // An unknown state counts as ready.
      const isReady = conditions.flag('ready') ?? true
      const addresses = fields.texts('addresses').filter(isAddress)
      return { addresses, isReady, isServing: conditions.flag('serving') ?? isReady }
    }),
  }
}

/** Slices of the type FQDN contain names, which data planes cannot use as addresses. */
function isAddress(text: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(text) || /^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$/.test(text)
}
