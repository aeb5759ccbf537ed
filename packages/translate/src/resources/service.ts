import { type FieldProblem, Fields } from './fields.ts'
import type { Resource } from './resource.ts'

export interface ServicePort {
  port: number
  /** The name of the port; empty when it has none, which Kubernetes allows for the only port of a Service. */
  name: string
  appProtocol: string | undefined
  protocol: 'TCP' | 'UDP'
}

interface ServiceSpec {
  type: string
  /** The host of a Service of type ExternalName, in lower case. */
  externalName: string
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
    const protocol = transportOf(fields)
    if (port === undefined || protocol === null) return []
    return [{ port, name: fields.text('name') ?? '', appProtocol: fields.text('appProtocol'), protocol }]
  })
  const isAffine = spec.choice('sessionAffinity', ['None', 'ClientIP']) === 'ClientIP'
  const externalName = (spec.text('externalName') ?? '').toLowerCase().replace(/\.$/, '')
  return { type: spec.text('type') ?? 'ClusterIP', externalName, ports, isAffine, problems }
}

interface EndpointSliceSpec {
  ports: { name: string; port: number; protocol: 'TCP' | 'UDP' }[]
  endpoints: {
    addresses: string[]
    isReady: boolean
    isServing: boolean
    /** The name of its Pod, in the namespace of the slice; undefined for other endpoints. */
    pod: string | undefined
  }[]
}

/** Reads an EndpointSlice, whose fields are at the top level. */
export function readEndpointSlice(resource: Resource): EndpointSliceSpec {
  const slice = new Fields(resource, [], [])
  return {
    ports: slice.objects('ports').flatMap((fields) => {
      const port = fields.integer('port', { min: 1, max: 65_535 })
      const protocol = transportOf(fields)
      if (port === undefined || protocol === null) return []
      return [{ name: fields.text('name') ?? '', port, protocol }]
    }),
    endpoints: slice.objects('endpoints').map((fields) => {
      const conditions = fields.object('conditions')
      // An unknown state counts as ready.
      const isReady = conditions.flag('ready') ?? true
      const addresses = fields.texts('addresses').filter(isAddress)
      const target = fields.object('targetRef')
      const pod = target.text('kind') === 'Pod' ? target.text('name') : undefined
      return { addresses, isReady, isServing: conditions.flag('serving') ?? isReady, pod }
    }),
  }
}

/** The protocol of a port; null for those that nothing here speaks, such as SCTP. */
function transportOf(fields: Fields): 'TCP' | 'UDP' | null {
  const text = fields.text('protocol') ?? 'TCP'
  return text === 'TCP' || text === 'UDP' ? text : null
}

/** Slices of the type FQDN contain names, which data planes cannot use as addresses. */
export function isAddress(text: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(text) || /^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$/.test(text)
}
