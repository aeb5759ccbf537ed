import { isCelError, toJson } from '@portico/cel'
import { Callouts } from '../../../pipeline/callouts/callouts.ts'
import type { ExpressionPhase } from '../../../pipeline/expression/expression.ts'
import type { JsonObject, RequestContext } from '../../../pipeline/context/request-context.ts'
import { type Env, implementBoth, type Step } from '../../../pipeline/context/step.ts'
import { conditional } from '../../../pipeline/policy/conditional.ts'
import { connectProcessor } from '../../../pipeline/ext-proc/connect.ts'
import { modesOf, observed } from '../../../pipeline/ext-proc/modes.ts'
import { Observation } from './observation.ts'
import type { ProcessingSettings } from '../../../pipeline/ext-proc/processing-settings.ts'
import { Processing } from '../../../pipeline/ext-proc/processing.ts'
import { PolicyExchange, type PolicySettings } from './policy-exchange.ts'
import type { ExtProcConfig } from './schema.ts'
import { requestSide, responseSide } from '../../../pipeline/ext-proc/side.ts'

export const extProc = conditional(
  implementBoth<ExtProcConfig>((config, env) => {
    const settings = settingsOf(config, env)
    /** The key of this policy in the state of a request. */
    const own = {}
    if (config.observabilityMode === true) return observing({ ...settings, modes: observed(settings.modes) }, own)
    return {
      replacesBodies: true,
      request(rx) {
        const processing = new Processing(new PolicyExchange(rx, settings), settings)
        ;(rx.open ??= new Map()).set(own, processing)
        return processing.run(requestSide(rx))
      },
      response(rx) {
        const processing = rx.open?.get(own)
        if (!(processing instanceof Processing))
          return rx.trace?.skipped('the external processor did not see the request')
        // Answers of the gateway itself are none of the processor's business.
        if (!rx.isFromBackend) {
          processing.close(null)
          return rx.trace?.skipped('the response comes from the gateway itself')
        }
        if (processing.isOver) return rx.trace?.skipped('the processor has ended')
        return processing.run(responseSide(rx))
      },
    }
  }),
)

/** Sends copies to the processor, without waiting for it. */
function observing(settings: ExtProcSettings, own: object): Step {
  return {
    request(rx) {
      const observation = new Observation(rx, settings)
      ;(rx.open ??= new Map()).set(own, observation)
      observation.copy(requestSide(rx))
    },
    response(rx) {
      const observation = rx.open?.get(own)
      if (!(observation instanceof Observation))
        return rx.trace?.skipped('the external processor did not see the request')
      if (rx.reason !== 'Upstream') return rx.trace?.skipped('the response comes from the gateway itself')
      observation.copy(responseSide(rx))
    },
  }
}

type ExtProcSettings = ProcessingSettings & PolicySettings

function settingsOf(config: ExtProcConfig, env: Env): ExtProcSettings {
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
  const settings: ExtProcSettings = {
    modes: modesOf(processingOptions),
    allowModeOverride: processingOptions?.allowModeOverride === true,
    isLenient: false,
    failureMode,
    timeoutMs: messageTimeout,
    maxTimeoutMs: config.maxMessageTimeout ?? 0,
    maxBufferBytes: env.maxBufferBytes,
    deadlines: env.deadlines,
    log: env.log,
    now: env.monotonic,
    record: env.callouts('ExtProc'),
    connect: connectProcessor(callouts, env),
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

/** The values by name, without expressions that fail. */
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
