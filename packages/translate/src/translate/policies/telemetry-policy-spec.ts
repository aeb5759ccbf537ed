import { type FieldProblem, Fields } from '../../resources/fields.ts'
import {
  type BackendReference,
  type ObjectReference,
  readBackendRef,
  readReference,
} from '../../resources/references.ts'
import type { Resource } from '../../resources/resource.ts'

interface TelemetryPolicySpec {
  targets: ObjectReference[]
  /** Null when the policy leaves tracing as it is. */
  tracing: TracingPlan | null
  problems: FieldProblem[]
}

/** Tracing in the form of the config file, without its collector. */
interface TracingPlan {
  /** Undefined when tracing is disabled. */
  collector: BackendReference | undefined
  config: Record<string, unknown>
}

const modes = ['Enabled', 'Disabled', 'ImplementationDefault'] as const

export function readTelemetryPolicy({ metadata, spec: input }: Resource): TelemetryPolicySpec {
  const problems: FieldProblem[] = []
  const { namespace = '' } = metadata
  const spec = new Fields(input, ['spec'], problems)
  const targets = spec.objects('targetRefs').flatMap((fields) => {
    const target = readReference(fields, { group: '', kind: '', namespace })
    fields.done()
    return target === undefined ? [] : [{ ...target, namespace }]
  })
  const tracing = spec.has('tracing') ? readTracing(spec.object('tracing'), namespace) : null
  spec.done()
  return { targets, tracing, problems }
}

function readTracing(tracing: Fields, namespace: string): TracingPlan | null {
  const mode = tracing.choice('mode', modes) ?? 'ImplementationDefault'
  const settings = ['provider', 'samplingRate', 'parentBasedSampling', 'serviceName', 'spanName', 'attributes']
  if (mode !== 'Enabled') {
    for (const field of settings) {
      tracing.raw(field)
      if (tracing.has(field)) tracing.report(field, 'can only be set with mode Enabled')
    }
    tracing.done()
    return mode === 'Disabled' ? { collector: undefined, config: NOT_SAMPLED } : null
  }
  const provider = tracing.object('provider')
  if (!provider.has('backendRef')) provider.report('backendRef', 'is missing')
  const reference = provider.object('backendRef')
  const collector = provider.has('backendRef') ? readBackendRef(reference, namespace) : undefined
  const headers = provider.objects('headers').map((fields) => {
    const header = { name: fields.text('name') ?? '', value: fields.text('value') ?? '' }
    fields.done()
    return header
  })
  const [serviceName, spanName] = [tracing.text('serviceName'), tracing.text('spanName')]
  const added = [
    ...(spanName === undefined ? [] : [{ name: 'span.name', expression: JSON.stringify(spanName) }]),
    ...tracing.objects('attributes').flatMap(readAttribute),
  ]
  // As the samplers of OpenTelemetry do by default.
  const randomSampling = readFraction(tracing, 'samplingRate') ?? 1
  const clientSampling = readParentSampling(tracing.object('parentBasedSampling'))
  for (const fields of [reference, provider, tracing]) fields.done()
  const config = {
    protocol: collector?.port === OTLP_HTTP_PORT ? 'HTTP' : 'GRPC',
    ...(headers.length > 0 && { headers }),
    ...(added.length > 0 && { attributes: { add: added } }),
    ...(serviceName !== undefined && {
      resources: [{ name: 'service.name', expression: JSON.stringify(serviceName) }],
    }),
    randomSampling,
    clientSampling,
  }
  return { collector, config }
}

const NOT_SAMPLED = { randomSampling: false, clientSampling: false }

/** The port of OTLP over HTTP; collectors listen for gRPC at 4317. */
const OTLP_HTTP_PORT = 4318

function readParentSampling(parent: Fields): number {
  const mode = parent.choice('mode', modes)
  const share = readFraction(parent, 'samplingRate')
  if (share !== undefined && mode !== 'Enabled') parent.report('samplingRate', 'can only be set with mode Enabled')
  if (mode === 'Disabled') {
    parent.report('mode', 'Disabled is not supported: a request whose client decided not to sample it is never traced')
  }
  parent.done()
  return share ?? 1
}

/** Reads a fraction as a number from 0 to 1. */
function readFraction(owner: Fields, key: string): number | undefined {
  if (!owner.has(key)) return undefined
  const fraction = owner.object(key)
  const numerator = fraction.integer('numerator') ?? 0
  const denominator = fraction.integer('denominator', { min: 1 }) ?? 100
  fraction.done()
  if (numerator > denominator) return owner.report(key, 'has a numerator that is greater than its denominator')
  return numerator / denominator
}

/** Expressions for attributes of the semantic conventions of OpenTelemetry. */
const expressionByAttribute: Readonly<Record<string, string>> = {
  'client.address': 'source.address',
  'client.port': 'source.port',
  'http.request.method': 'request.method',
  'http.response.status_code': 'response.code',
  'http.route': 'proxy.route.name',
  'server.address': 'request.host',
  'url.path': 'request.path',
  'url.scheme': 'request.scheme',
  'user_agent.original': 'request.headers["user-agent"]',
}

function readAttribute(fields: Fields): { name: string; expression: string }[] {
  const name = fields.text('name')
  if (name === undefined) fields.report('name', 'is missing')
  const source = fields.choice('sourceType', ['Header', 'Literal', 'Attribute'])
  if (!fields.has('sourceType')) fields.report('sourceType', 'is missing')
  const [header, literal, key] = [fields.text('headerName'), fields.text('literalValue'), fields.text('attributeKey')]
  fields.done()
  const [field, value, expression] =
    source === 'Header'
      ? ['headerName', header, `request.headers[${JSON.stringify(header?.toLowerCase())}]`]
      : source === 'Literal'
        ? ['literalValue', literal, JSON.stringify(literal)]
        : ['attributeKey', key, expressionByAttribute[key ?? '']]
  if (source === undefined || name === undefined) return []
  if (value === undefined) return fields.report(field, 'is missing') ?? []
  if (expression === undefined) {
    const known = Object.keys(expressionByAttribute).join(', ')
    return fields.report(field, `${value} is not supported: use one of ${known}`) ?? []
  }
  return [{ name, expression }]
}
