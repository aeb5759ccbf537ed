import { ListBuilder } from './steps.ts'
import { bufferResponse } from '../pipeline/body/buffered-body.ts'
import type { AttemptStepList, BackendIdentity } from '../pipeline/compiled/compiled.ts'
import { makeEach } from '../pipeline/compiled/config-fault.ts'
import { widest } from '../pipeline/context/body-use.ts'
import { ExpressionBodies } from '../pipeline/body/expression-bodies.ts'
import type { AttemptStep, OutgoingTarget } from '../pipeline/context/outgoing.ts'
import type { Env } from '../pipeline/context/step.ts'
import type { BackendPolicies } from '../policies/index.ts'
import { backendSteps, type BackendStepName, type MakeBackendStep } from '../policies/order.ts'

const stepNames = Object.keys(backendSteps) as BackendStepName[]

type CompiledBackendSteps = Pick<BackendIdentity, 'request' | 'sign' | 'response' | 'requestBody'>

const NO_STEPS: CompiledBackendSteps = { request: null, sign: null, response: null, requestBody: 'none' }

export function compileBackendSteps(policies: BackendPolicies, env: Env, place: OutgoingTarget): CompiledBackendSteps {
  const set = stepNames.filter((name) => policies[name] !== undefined)
  if (set.length === 0) return NO_STEPS
  const steps = makeEach(set, (name) => {
    // Name and config belong together by the type of `backendSteps`, which the compiler cannot follow through a variable.
    const make = backendSteps[name] as MakeBackendStep<unknown>
    const bodies = new ExpressionBodies(env)
    const step = make(policies[name], bodies.env, place)
    return { name, step, ...bodies.of(step) }
  })
  const response = new ListBuilder('buffer', (use) => bufferResponse(use, env.maxBufferBytes))
  for (const { name, step, responseBody } of steps) {
    response.need(responseBody)
    response.add(name, step.response)
  }
  return {
    request: attemptList(steps.map(({ name, step }) => [name, step.request])),
    sign: attemptList(steps.map(({ name, step }) => [name, step.sign])),
    response: response.list(),
    requestBody: widest(steps.map(({ requestBody }) => requestBody)),
  }
}

function attemptList(steps: readonly (readonly [string, AttemptStep | undefined])[]): AttemptStepList | null {
  const run: AttemptStep[] = []
  const names: string[] = []
  for (const [name, step] of steps) {
    if (step === undefined) continue
    run.push(step)
    names.push(name)
  }
  return run.length === 0 ? null : { run, names }
}
