import { type FieldProblem, Fields } from './fields.ts'
import { type ListenerSpec, readListeners, readNamespaces } from './listener.ts'
import { type ObjectReference, readReference } from './references.ts'
import type { Resource } from './resource.ts'

export interface GatewaySpec {
  namespace: string
  className: string
  listeners: ListenerSpec[]
  /** Namespaces whose ListenerSets may attach. */
  allowedListeners: ListenerSpec['from']
  addresses: { type: string; value: string }[]
  /** Validation of client certificates by port; 0 stands for all other ports. */
  clientValidation: Map<number, ClientValidation>
  /** The client certificate for TLS to backends; null when there is none. */
  backendCertificate: ObjectReference | null
  problems: FieldProblem[]
}

interface ClientValidation {
  authorities: ObjectReference[]
  isLax: boolean
}

export function readGateway({ metadata, spec: input }: Resource): GatewaySpec {
  const problems: FieldProblem[] = []
  const { namespace = '' } = metadata
  const spec = new Fields(input, ['spec'], problems)
  const className = spec.text('gatewayClassName') ?? ''
  const listeners = readListeners(spec, namespace)
  const allowed = spec.object('allowedListeners')
  const allowedListeners = readNamespaces(allowed, 'None')
  allowed.done()
  const addresses = spec.objects('addresses').map((fields) => {
    const address = { type: fields.text('type') ?? 'IPAddress', value: fields.text('value') ?? '' }
    // The deployer reads this field.
    fields.text('routability')
    fields.done()
    return address
  })
  // The deployer reads this field.
  spec.raw('infrastructure')
  const tls = spec.object('tls')
  const clientValidation = readFrontend(tls.object('frontend'), namespace)
  const backend = tls.object('backend')
  const certificate = backend.object('clientCertificateRef')
  const backendCertificate = backend.has('clientCertificateRef')
    ? (readReference(certificate, { group: '', kind: 'Secret', namespace }) ?? null)
    : null
  certificate.done()
  backend.done()
  tls.done()
  spec.done()
  return {
    namespace,
    className,
    listeners,
    allowedListeners,
    addresses,
    clientValidation,
    backendCertificate,
    problems,
  }
}

function readFrontend(frontend: Fields, namespace: string): Map<number, ClientValidation> {
  const found = new Map<number, ClientValidation>()
  const add = (port: number, fields: Fields): void => {
    if (!fields.has('validation')) return fields.done()
    const validation = fields.object('validation')
    const authorities = validation.objects('caCertificateRefs').flatMap((each) => {
      const reference = readReference(each, { group: '', kind: 'ConfigMap', namespace })
      each.done()
      return reference ?? []
    })
    const mode = validation.choice('mode', ['AllowValidOnly', 'AllowInsecureFallback'])
    found.set(port, { authorities, isLax: mode === 'AllowInsecureFallback' })
    validation.done()
    fields.done()
  }
  add(0, frontend.object('default'))
  for (const perPort of frontend.objects('perPort')) {
    const port = perPort.integer('port', { min: 1, max: 65_535 })
    if (port !== undefined) add(port, perPort.object('tls'))
    perPort.done()
  }
  frontend.done()
  return found
}
