import { isCelError, toJson } from '@portico/cel'
import { Callouts } from '../../../pipeline/callouts/callouts.ts'
import type { ExpressionPhase } from '../../../pipeline/expression/expression.ts'
import type { JsonObject, RequestContext } from '../../../pipeline/context/request-context.ts'
import { type Env, implementBoth, type Step } from '../../../pipeline/context/step.ts'
import { type GrpcOptions, GrpcStream } from '@portico/http/grpc'
import { conditional } from '../../../pipeline/policy/conditional.ts'
import { modesOf, observed } from './modes.ts'
import { Observation } from './observation.ts'
import type { ProcessingSettings } from './processing-settings.ts'
import { Processing } from './processing.ts'
import type { ExtProcConfig } from './schema.ts'
import { requestSide, responseSide } from './side.ts'

export const extProc = conditional(
  implementBoth<ExtProcConfig>((config, env) => {
    const settings = settingsOf(config, env)
    /** Names this policy among those that have something under way for a request. */
    const own = {}
    if (config.observabilityMode === true) return observing({ ...settings, modes: observed(settings.modes) }, own)
    return {
      replacesBodies: true,
      request(rx) {
        const processing = new Processing(rx, settings)
        ;(rx.open ??= new Map()).set(own, processing)
        return processing.run(requestSide(rx))
      },
      response(rx) {
        const processing = rx.open?.get(own)
        if (!(processing instanceof Processing)) return rx.trace?.skipped('the request was not processed')
        // Answers of the gateway itself are none of the processor's business.
        if (!rx.isFromBackend) {
          processing.close(null)
          return rx.trace?.skipped('the answer comes from the gateway')
        }
        if (processing.isOver) return rx.trace?.skipped('the processor has ended')
        return processing.run(responseSide(rx))
      },
    }
  }),
)

/** Copies go to the processor, and nobody waits for it. */
function observing(settings: ProcessingSettings, own: object): Step {
  return {
    request(rx) {
      const observation = new Observation(rx, settings)
      ;(rx.open ??= new Map()).set(own, observation)
      observation.copy(requestSide(rx))
    },
    response(rx) {
      const observation = rx.open?.get(own)
      if (!(observation instanceof Observation)) return rx.trace?.skipped('the request was not processed')
      if (rx.reason !== 'Upstream') return rx.trace?.skipped('the answer comes from the gateway')
      observation.copy(responseSide(rx))
    },
  }
}

function settingsOf(config: ExtProcConfig, env: Env): ProcessingSettings {
  const { backendRef, processingOptions, failureMode = 'FailClosed', messageTimeout = DEFAULT_TIMEOUT_MS } = config
  const key = backendRef.name ?? backendRef.host
  const callouts = new Callouts('ExtProc', key, env)
  const attributes = {
    request: valuesOf(config.requestAttributes ?? {}, env, 'request'),
    response: valuesOf(config.responseAttributes ?? {}, env, 'responseHead'),
  }
  const namespaces = Object.entries(config.metadataContext ?? {}).map(
    ([name, values]) => [name, valuesOf(values, env, 'request')] as const,
  )
  const settings: ProcessingSettings = {
    modes: modesOf(processingOptions),
    allowModeOverride: processingOptions?.allowModeOverride === true,
    failureMode,
    timeoutMs: messageTimeout,
    maxTimeoutMs: config.maxMessageTimeout ?? 0,
    maxBufferBytes: env.maxBufferBytes,
    deadlines: env.deadlines,
    log: env.log,
    now: env.monotonic,
    record: env.callouts('ExtProc'),
    async connect(rx, handler) {
      const { processMethod } = await import('./process-method.ts')
      const options: GrpcOptions = {
        send: (outgoing, answer) => callouts.send(rx, outgoing, answer),
        authority: callouts.authority,
        deadlines: env.deadlines,
        maxMessageBytes: env.maxBufferBytes + ROOM,
      }
      return new GrpcStream(processMethod, options, handler)
    },
    context(rx, name) {
      const values = attributes[name].evaluate(rx)
      const filterMetadata = new Map(
        name === 'request' ? namespaces.map(([each, own]) => [each, own.evaluate(rx)]) : [],
      )
      return {
        attributes: values === NOTHING ? new Map() : new Map([[NAMESPACE, values]]),
        metadataContext: filterMetadata.size === 0 ? undefined : { filterMetadata, typedFilterMetadata: new Map() },
      }
    },
  }
  return settings
}

interface Values {
  evaluate(rx: RequestContext): JsonObject
}

/** Values by name, without those that cannot be computed. */
function valuesOf(sources: Readonly<Record<string, string>>, env: Env, phase: ExpressionPhase): Values {
  const all = Object.entries(sources).map(([name, source]) => ({ name, value: env.cel(source, phase) }))
  return {
    evaluate(rx) {
      if (all.length === 0) return NOTHING
      const results = all.flatMap(({ name, value }) => {
        const result = value.evaluate(rx)
        return isCelError(result) ? [] : [[name, toJson(result)] as const]
      })
      return Object.fromEntries(results)
    },
  }
}

const NOTHING: JsonObject = {}
/** The key under which processors expect attributes. */
const NAMESPACE = 'envoy.filters.http.ext_proc'
const DEFAULT_TIMEOUT_MS = 2_000
/** For headers and the frame, beside a body as large as may be kept. */
const ROOM = 4_194_304
