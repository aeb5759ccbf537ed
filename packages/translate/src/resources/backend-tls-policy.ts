import { type FieldProblem, Fields } from './fields.ts'
import { type ObjectReference, readReference } from './references.ts'
import type { Resource } from './resource.ts'

/** How the certificates of a backend are verified. */
export interface TlsValidation {
  authorities: ObjectReference[]
  wellKnown: string | undefined
  hostname: string
  names: string[]
}

interface BackendTlsPolicySpec extends TlsValidation {
  targets: (ObjectReference & { sectionName: string | undefined })[]
  problems: FieldProblem[]
}

export function readBackendTlsPolicy({ metadata, spec: input }: Resource): BackendTlsPolicySpec {
  const problems: FieldProblem[] = []
  const { namespace = '' } = metadata
  const spec = new Fields(input, ['spec'], problems)
  const targets = spec.objects('targetRefs').flatMap((fields) => {
    const target = readReference(fields, { group: '', kind: 'Service', namespace })
    const sectionName = fields.text('sectionName')
    fields.done()
    return target === undefined ? [] : [{ ...target, namespace, sectionName }]
  })
  const validation = readTlsValidation(spec.object('validation'), namespace)
  // Options are specific to implementations; we define none.
  spec.raw('options')
  spec.done()
  return { ...validation, targets, problems }
}

/** Reads `validation` of a BackendTLSPolicy or of an XBackend. */
export function readTlsValidation(validation: Fields, namespace: string): TlsValidation {
  const authorities = validation.objects('caCertificateRefs').flatMap((fields) => {
    const reference = readReference(fields, { group: '', kind: '', namespace })
    fields.done()
    return reference === undefined ? [] : [{ ...reference, namespace }]
  })
  const wellKnown = validation.text('wellKnownCACertificates')
  const hostname = validation.text('hostname') ?? ''
  const names = validation.objects('subjectAltNames').flatMap((fields) => {
    const type = fields.choice('type', ['Hostname', 'URI'])
    const [host, uri] = [fields.text('hostname'), fields.text('uri')]
    fields.done()
    return (type === 'URI' ? uri : host) ?? []
  })
  validation.done()
  return { authorities, wellKnown, hostname, names }
}
