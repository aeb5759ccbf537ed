import { type FieldProblem, Fields } from './fields.ts'
import { type ObjectReference, readReference } from './references.ts'
import type { Resource } from './resource.ts'

export interface BackendTlsPolicySpec {
  targets: (ObjectReference & { sectionName: string | undefined })[]
  authorities: ObjectReference[]
  wellKnown: string | undefined
  hostname: string
  names: string[]
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
  const validation = spec.object('validation')
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
  // Options are specific to implementations; we define none.
  spec.raw('options')
  spec.done()
  return { targets, authorities, wellKnown, hostname, names, problems }
}
