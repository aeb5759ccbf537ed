import { type FieldProblem, Fields } from './fields.ts'
import { type BackendReference, readReference } from './references.ts'
import type { Resource } from './resource.ts'

export interface InferencePoolSpec {
  /** Labels that members have; a pool without labels has no members. */
  labels: Record<string, string>
  /** Every port of a Pod is a member of its own. */
  ports: number[]
  version: 'HTTP1' | 'HTTP2'
  /** Null when the pool has no endpoint picker. */
  picker: PickerReference | null
  problems: FieldProblem[]
}

export interface PickerReference extends Omit<BackendReference, 'weight'> {
  failureMode: 'FailClosed' | 'FailOpen'
}

const PORT = { min: 1, max: 65_535 }

export function readInferencePool({ metadata, spec: input }: Resource): InferencePoolSpec {
  const problems: FieldProblem[] = []
  const spec = new Fields(input, ['spec'], problems)
  const selector = spec.object('selector')
  const labels = selector.textsByKey('matchLabels')
  selector.done()
  if (Object.keys(labels).length === 0) selector.report('matchLabels', 'is missing')
  const ports = spec.objects('targetPorts').flatMap((fields) => fields.integer('number', PORT) ?? [])
  if (ports.length === 0) spec.report('targetPorts', 'is missing')
  const protocol = spec.choice('appProtocol', ['http', 'kubernetes.io/h2c'])
  const picker = spec.has('endpointPickerRef') ? readPicker(spec.object('endpointPickerRef'), metadata.namespace) : null
  if (!spec.has('endpointPickerRef')) spec.raw('endpointPickerRef')
  spec.done()
  const version = protocol === 'kubernetes.io/h2c' ? 'HTTP2' : 'HTTP1'
  return { labels, ports: [...new Set(ports)], version, picker: picker ?? null, problems }
}

function readPicker(fields: Fields, namespace = ''): PickerReference | undefined {
  const reference = readReference(fields, { group: '', kind: 'Service', namespace })
  const at = fields.object('port')
  const port = at.integer('number', PORT)
  const failureMode = fields.choice('failureMode', ['FailOpen', 'FailClose']) === 'FailOpen' ? 'FailOpen' : 'FailClosed'
  at.done()
  fields.done()
  // A picker is always in the namespace of its pool.
  return reference === undefined ? undefined : { ...reference, namespace, port, failureMode }
}
