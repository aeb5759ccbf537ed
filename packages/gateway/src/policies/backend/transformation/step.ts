import { editableAttempt, editableResponse } from '../../../pipeline/policy/editable-message.ts'
import type { BackendStep } from '../../../pipeline/context/outgoing.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import { createTransform } from '../../../pipeline/policy/transform.ts'
import type { BackendTransformationConfig } from './schema.ts'

export function backendTransformation(config: BackendTransformationConfig, env: Env): BackendStep {
  const request = config.request === undefined ? null : createTransform(config.request, env, 'backend')
  const response = config.response === undefined ? null : createTransform(config.response, env, 'response')
  return {
    ...(request !== null && { request: (outgoing, rx) => request.apply(editableAttempt(outgoing, rx), rx) }),
    ...(response !== null && { response: (rx) => response.apply(editableResponse(rx), rx) }),
  }
}
