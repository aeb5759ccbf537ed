import type { Effective } from '../ir/merge.ts'
import { bufferRequest, bufferResponse } from '../pipeline/body/buffered-body.ts'
import type { CompiledRoute } from '../pipeline/compiled/compiled.ts'
import { makeEach } from '../pipeline/compiled/config-fault.ts'
import { type ConfigUnit, type Containment, GATEWAY, STRICT } from '../pipeline/compiled/containment.ts'
import { type BodyUse, widest } from '../pipeline/context/body-use.ts'
import { ExpressionBodies } from '../pipeline/body/expression-bodies.ts'
import type { ConnectionInfo } from '@portico/http'
import type { ShadowOutcome } from '../records/shadow-outcome.ts'
import type { Env, MakeStep, Step } from '../pipeline/context/step.ts'
import type { ShadowPolicies, TrafficPolicies } from '../policies/index.ts'
import { createConnectionStep, createShadowStep } from '../pipeline/shadow/create-shadow-step.ts'
import { joinedTraffic, responseOrder, type TrafficName, trafficSteps } from '../policies/order.ts'

const stepNames = Object.keys(trafficSteps) as TrafficName[]

export interface CompiledSteps {
  request: CompiledRoute['request']
  response: CompiledRoute['response']
  done: NonNullable<Step['done']>[] | null
  /** The effective config by policy, for traces. */
  effectivePolicy: Record<string, unknown>
}

export const NO_STEPS: CompiledSteps = { request: null, response: null, done: null, effectivePolicy: {} }

/** The inputs, besides the policies, for the steps of a config unit. */
interface UnitParts {
  /** The body that backend policies need. */
  backendBody: BodyUse
  /** Steps of backends that run in the place of the traffic policy of this name. */
  made: Partial<Record<TrafficName, Step>>
  /** The shadow policies of the same attachment point. */
  shadows: Effective<ShadowPolicies>
  /** Returns the outcome of shadow rules for a connection; null without such rules. */
  connectionShadow: ((info: ConnectionInfo) => ShadowOutcome) | null
  /** Handles exceptions when a shadow is compiled: the config unit then runs without the shadow policy. */
  containment: Containment
  unit: ConfigUnit
}

const NO_SHADOWS: Effective<ShadowPolicies> = {}

/** Compiles the effective policies of one attachment point to functions in running order. */
export function compileSteps(
  effective: Effective<TrafficPolicies>,
  env: Omit<Env, 'attachment'>,
  {
    backendBody = 'none',
    made: given = {},
    shadows = NO_SHADOWS,
    connectionShadow = null,
    ...unit
  }: Partial<UnitParts> = {},
): CompiledSteps {
  const set = stepNames.filter((name) => effective[name] !== undefined || given[name] !== undefined || name in shadows)
  // Most routes have no policy of their own, and a config may have thousands of routes.
  if (set.length === 0 && backendBody === 'none' && connectionShadow === null) return NO_STEPS
  const steps = makeEach(set, (name): [TrafficName, MadeStep][] => {
    const step = given[name]
    const made =
      step === undefined ? makeStep(name, effective, env) : { step, requestBody: NO_BODY, responseBody: NO_BODY }
    return made === null ? [] : [[name, made]]
  }).flat()
  const byName = new Map(steps)
  const shadowByName = new Map(makeEach(set, (name) => [name, makeShadow(name, shadows, env, unit)] as const))
  const request = new ListBuilder('buffer', (use) => bufferRequest(use, env.maxBufferBytes))
  if (connectionShadow !== null) {
    const step = createConnectionStep(({ connection }) => connectionShadow(connection), env)
    request.add('shadow.networkAuthorization', step.request)
  }
  for (const name of set) {
    // A shadow step runs before the enforced step, which may remove the credential or end the request.
    request.add(`shadow.${name}`, shadowByName.get(name)?.request)
    const made = byName.get(name)
    if (made === undefined) continue
    const { step, requestBody } = made
    // A response step may read the request body too, which is only available now.
    request.need(requestBody)
    request.add(name, step.request)
    if (step.replacesBodies === true) request.forget()
  }
  request.need(backendBody)
  const response = new ListBuilder('buffer', (use) => bufferResponse(use, env.maxBufferBytes))
  for (const name of responseOrder) {
    const made = byName.get(name)
    response.need(made?.responseBody ?? 'none')
    response.add(name, made?.step.response)
    if (made?.step.replacesBodies === true) response.forget()
  }
  const done = steps.flatMap(([, { step }]) => (step.done === undefined ? [] : [step.done]))
  return {
    request: request.list(),
    response: response.list(),
    done: done.length === 0 ? null : done,
    effectivePolicy: {
      ...configsOf(effective),
      ...(Object.keys(shadows).length > 0 && { shadow: configsOf(shadows) }),
    },
  }
}

const NO_BODY: BodyUse = 'none'

interface MadeStep {
  step: Step
  requestBody: BodyUse
  responseBody: BodyUse
}

/**
 * Compiles the step of a shadow policy. Its counters are apart from those of enforced policies, because the attachment
 * names them.
 */
function makeShadow(
  name: TrafficName,
  shadows: Effective<ShadowPolicies>,
  env: Omit<Env, 'attachment'>,
  { containment = STRICT, unit = GATEWAY }: Partial<UnitParts>,
): Step | undefined {
  const own = { ...env, isShadow: true }
  const make = (): Step | undefined => {
    const made = makeStep(name, shadows, own, 'shadow/')
    return made === null ? undefined : createShadowStep(name, made.step, { ...own, requestBody: made.requestBody })
  }
  return containment.make(unit, make, () => undefined)
}

function makeStep(
  name: TrafficName,
  effective: Effective<TrafficPolicies>,
  env: Omit<Env, 'attachment'>,
  prefix = '',
): MadeStep | null {
  const own = effective[name]
  if (own === undefined) return null
  const config: unknown = (joinedTraffic as ReadonlySet<string>).has(name) ? own.configs : own.configs.at(-1)
  const bodies = new ExpressionBodies({ ...env, attachment: `${prefix}${own.origin}/${name}` })
  // The type of `trafficSteps` relates names to configs, but the compiler cannot follow the relation through a
  // variable.
  const step = (trafficSteps[name] as MakeStep<unknown>)(config, bodies.env)
  return step === null ? null : { step, ...bodies.of(step) }
}

function configsOf(effective: Effective<TrafficPolicies>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(effective).map(([name, { configs }]) => [name, configs.length === 1 ? configs[0] : configs]),
  )
}

/** Inserts the step that buffers a body before the first step that needs it. */
export class ListBuilder<RunStep> {
  readonly #run: RunStep[] = []
  readonly #names: string[] = []
  readonly #bufferName: string
  readonly #buffer: (use: Exclude<BodyUse, 'none'>) => RunStep
  #have: BodyUse = 'none'

  constructor(bufferName: string, buffer: (use: Exclude<BodyUse, 'none'>) => RunStep) {
    this.#bufferName = bufferName
    this.#buffer = buffer
  }

  need(use: BodyUse): void {
    const wanted = widest([this.#have, use])
    if (wanted === this.#have || wanted === 'none') return
    this.#have = wanted
    this.#run.push(this.#buffer(wanted))
    this.#names.push(this.#bufferName)
  }

  /** Called when a step replaced the body, so that later steps buffer it again. */
  forget(): void {
    this.#have = 'none'
  }

  add(name: string, run: RunStep | undefined): void {
    if (run === undefined) return
    this.#run.push(run)
    this.#names.push(name)
  }

  list(): { run: RunStep[]; names: string[] } | null {
    return this.#run.length === 0 ? null : { run: this.#run, names: this.#names }
  }
}
