import { readTlsValidation, type TlsValidation } from '../../resources/backend-tls-policy.ts'
import { type FieldProblem, Fields } from '../../resources/fields.ts'
import { type ObjectReference, readReference } from '../../resources/references.ts'
import type { Resource } from '../../resources/resource.ts'
import { readPersistence } from '../session-persistence.ts'

const protocols = ['TCP', 'HTTP', 'HTTP2', 'HTTP11', 'H2C', 'MCP', 'GRPC', 'WSS'] as const

type XBackendProtocol = (typeof protocols)[number]

export interface XBackendSpec {
  /** The external host in lower case; null when labels select Pods. */
  host: string | null
  /** Labels of the Pods; empty for an external host. */
  labels: Record<string, string>
  port: number
  protocol: XBackendProtocol | undefined
  /** Null when connections are not encrypted. */
  tls: { validation: TlsValidation; clientCertificate: ObjectReference | null } | null
  /** In the form of the config file. */
  sessionPersistence: Record<string, unknown> | undefined
  problems: FieldProblem[]
}

/** Reads an XBackend. The rules of its CRD are checked too, because files are not validated by an API server. */
export function readXBackend({ metadata, spec: input }: Resource): XBackendSpec {
  const problems: FieldProblem[] = []
  const { namespace = '' } = metadata
  const spec = new Fields(input, ['spec'], problems)
  const type = spec.choice('type', ['ExternalHostname', 'EndpointSelector'])
  if (!spec.has('type')) spec.report('type', 'is missing')
  const [external, selector] = [spec.object('externalHostname'), spec.object('endpointSelector')]
  const host = external.text('hostname')?.toLowerCase().replace(/\.$/, '')
  const labels = selector.textsByKey('matchLabels')
  if (type === 'ExternalHostname' && !host) external.report('hostname', 'is missing')
  if (type === 'ExternalHostname' && spec.has('endpointSelector')) excluded(spec, 'endpointSelector', type)
  // Without labels, every Pod of the namespace would be selected.
  if (type === 'EndpointSelector' && Object.keys(labels).length === 0) selector.report('matchLabels', 'is missing')
  if (type === 'EndpointSelector' && spec.has('externalHostname')) excluded(spec, 'externalHostname', type)
  const portFields = spec.object('port')
  const port = portFields.integer('number', { min: 1, max: 65_535 })
  if (!portFields.has('number')) portFields.report('number', 'is missing')
  const protocol = spec.choice('protocol', protocols)
  const tls = readTls(spec, namespace)
  checkProtocol(spec, protocol, tls !== null)
  const sessionPersistence = readPersistence(spec)
  if (type === 'ExternalHostname' && sessionPersistence !== undefined) excluded(spec, 'sessionPersistence', type)
  for (const fields of [external, selector, portFields, spec]) fields.done()
  const isExternal = type === 'ExternalHostname'
  return {
    host: isExternal ? (host ?? '') : null,
    labels: isExternal ? {} : labels,
    port: port ?? 0,
    protocol,
    tls,
    sessionPersistence,
    problems,
  }
}

function excluded(spec: Fields, field: string, type: string): void {
  spec.report(field, `cannot be set with type ${type}`)
}

function readTls(spec: Fields, namespace: string): XBackendSpec['tls'] {
  if (!spec.has('tls')) return null
  const tls = spec.object('tls')
  const mode = tls.choice('mode', ['None', 'ServerOnly', 'ClientAndServer'])
  if (!tls.has('mode')) tls.report('mode', 'is missing')
  const certificate = tls.object('clientCertificateRef')
  const hasCertificate = tls.has('clientCertificateRef')
  const clientCertificate = hasCertificate
    ? (readReference(certificate, { group: '', kind: 'Secret', namespace }) ?? null)
    : null
  const validation = readTlsValidation(tls.object('validation'), namespace)
  if (hasCertificate !== (mode === 'ClientAndServer')) {
    tls.report('clientCertificateRef', 'must be set if, and only if, mode is ClientAndServer')
  }
  if (tls.has('validation') !== (mode === 'ServerOnly' || mode === 'ClientAndServer')) {
    tls.report('validation', 'must be set if, and only if, mode is ServerOnly or ClientAndServer')
  }
  certificate.done()
  tls.done()
  return mode === 'None' ? null : { validation, clientCertificate }
}

function checkProtocol(spec: Fields, protocol: XBackendProtocol | undefined, isEncrypted: boolean): void {
  if (protocol === 'H2C' && isEncrypted) spec.report('protocol', 'H2C excludes TLS: use HTTP2')
  if ((protocol === 'HTTP2' || protocol === 'WSS') && !isEncrypted) {
    spec.report('protocol', `${protocol} needs TLS: set spec.tls${protocol === 'HTTP2' ? ', or use H2C' : ''}`)
  }
}
