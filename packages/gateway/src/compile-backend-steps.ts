import { ListBuilder } from './compile-steps.ts'
import { bufferResponse } from './pipeline/buffered-body.ts'
import type { AttemptStepList, BackendIdentity } from './pipeline/compiled.ts'
import { widest } from './pipeline/expression.ts'
import type { BackendStep } from './pipeline/outgoing.ts'
import type { Env } from './pipeline/step.ts'
import { backendAuth } from './policies/backend/auth/step.ts'
import { backendTransformation } from './policies/backend/transformation/step.ts'
import type { BackendPolicies } from './policies/index.ts'

/** Backend policies that change messages; the others say how the backend is reached. */
export type BackendStepName = 'auth' | 'transformation'

/** In the order in which each attempt meets them. */
const backendSteps: {
  [Name in BackendStepName]: (config: NonNullable<BackendPolicies[Name]>, env: Env) => BackendStep
} = {
  auth: backendAuth,
  transformation: backendTransformation,
}

export function compileBackendSteps(
  policies: BackendPolicies,
  env: Env,
): Pick<BackendIdentity, 'request' | 'response' | 'requestBody'> {
  const steps = (Object.keys(backendSteps) as BackendStepName[]).flatMap((name) => {
    const config = policies[name]
    // Name and config belong together by the type of `backendSteps`, which the compiler cannot follow through a variable.
    const make = backendSteps[name] as (config: unknown, env: Env) => BackendStep
    return config === undefined ? [] : [{ name, step: make(config, env) }]
  })
  const response = new ListBuilder('buffer', (use) => bufferResponse(use, env.maxBufferBytes))
  for (const { name, step } of steps) {
    response.need(step.responseBody ?? 'none')
    response.add(name, step.response)
  }
  return {
    request: requestList(steps),
    response: response.list(),
    requestBody: widest(steps.map(({ step }) => step.requestBody)),
  }
}

function requestList(steps: readonly { name: string; step: BackendStep }[]): AttemptStepList | null {
  const active = steps.filter(({ step }) => step.request !== undefined)
  if (active.length === 0) return null
  return { run: active.map(({ step }) => step.request!), names: active.map(({ name }) => name) }
}
