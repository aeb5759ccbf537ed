import { computedFields, addField, removedFields } from '../../../pipeline/expression/computed-fields.ts'
import { compileExpression } from '../../../pipeline/expression/expression.ts'
import type { ExportEnv } from '../../../pipeline/callouts/otlp-delivery.ts'
import { type ExportServices, keptExporter } from '../../../pipeline/callouts/otlp-exporter.ts'
import type { RequestTracing } from '../../../pipeline/run/run-services.ts'
import { RequestSpans } from '../../../pipeline/spans/request-spans.ts'
import type { SpanTools } from '../../../pipeline/spans/spanned-request.ts'
import { readTrace } from '../../../pipeline/spans/trace-headers.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import { gatewayName } from '../../../pipeline/context/proxy-identity.ts'
import { requestScope } from '../../../pipeline/run/log-scope.ts'
import type { ScopeServices } from '../../../pipeline/views/scope.ts'
import type { LogValue } from '../../../telemetry/log/access-log.ts'
import { SpanEncoder } from '../../../telemetry/otlp/span.ts'
import { SAMPLED } from '../../../telemetry/traceparent.ts'
import type { TracingConfig } from './schema.ts'
import { Double, isCelError, type Result, Uint } from '@portico/cel'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'

/** Decides for each request whether it has spans: nothing is made for those that have none. */
export function requestTracing(
  config: TracingConfig,
  env: ExportEnv & Pick<Env, 'cel'>,
  services: ExportServices & ScopeServices,
): RequestTracing {
  const tools = spanTools(config, env, services)
  const edit = computedFields(config.attributes)
  const begins = createSampling(config.randomSampling, false, env)
  const goesOn = createSampling(config.clientSampling, true, env)
  return {
    begin(rx) {
      const incoming = readTrace(rx.headers)
      const isNew = incoming === null
      const isSampled = isNew ? begins(rx) : incoming !== 'refused' && incoming.flags === SAMPLED && goesOn(rx)
      if (rx.trace !== null) {
        const decision = `${isSampled ? 'sample' : 'not sampled'} (${isNew ? 'random' : 'client'})`
        rx.trace.emit({ type: 'traceSampling', decision })
      }
      if (!isSampled) return
      const changes = edit === null ? null : () => edit(requestScope(rx, services))
      rx.spans = new RequestSpans(rx, incoming === 'refused' ? null : incoming, tools, changes)
    },
  }
}

function spanTools(config: TracingConfig, env: ExportEnv, services: ExportServices & ScopeServices): SpanTools {
  const resource = resourceOf(config, services)
  const exporter = keptExporter({ signal: 'traces', collector: config, service: TRACES, resource }, env, services)
  return {
    now: services.now,
    clock: env.clock,
    random: env.random,
    encoder: new SpanEncoder(exporter),
    gateway: gatewayName(services.identity),
    removed: removedFields(config.attributes),
  }
}

function resourceOf({ resources = [] }: TracingConfig, { identity, random }: ScopeServices): Record<string, LogValue> {
  const found = new Map<string, LogValue>()
  for (const { name, expression } of resources) {
    addField(found, name, compileExpression(expression, 'process').evaluate({ env: identity, random }))
  }
  return Object.fromEntries(found)
}

const TRACES = { method: '/opentelemetry.proto.collector.trace.v1.TraceService/Export', path: '/v1/traces' }

type Sample = (rx: RequestContext) => boolean

/** Whether a request is sampled; a constant number or boolean needs no evaluation. */
function createSampling(source: string | undefined, unset: boolean, env: Pick<Env, 'cel' | 'random'>): Sample {
  if (source === undefined) return () => unset
  const { random } = env
  const fixed = source === 'true' ? 1 : source === 'false' ? 0 : Number(source)
  if (!Number.isNaN(fixed)) return fixed >= 1 ? () => true : fixed <= 0 ? () => false : () => random() < fixed
  const expression = env.cel(source, 'start')
  return (rx) => random() < shareOf(expression.evaluate(rx))
}

/** The share of requests to sample; 0 when the expression fails or its result is neither a boolean nor a number. */
function shareOf(result: Result): number {
  if (isCelError(result)) return 0
  if (typeof result === 'boolean') return result ? 1 : 0
  if (typeof result === 'number' || typeof result === 'bigint') return Number(result)
  // Whole numbers that an expression writes as `1.0` or `1u`.
  if (result instanceof Double || result instanceof Uint) return Number(result.value)
  return 0
}
