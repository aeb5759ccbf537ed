import { editableRequest, editableResponse } from '../../../pipeline/policy/editable-message.ts'
import { implementBoth } from '../../../pipeline/context/step.ts'
import { createTransform } from '../../../pipeline/policy/transform.ts'
import { conditional } from '../../../pipeline/policy/conditional.ts'
import type { TransformationConfig } from './schema.ts'

export const transformation = conditional(
  implementBoth<Pick<TransformationConfig, 'request' | 'response'>>((config, env) => {
    const request = config.request === undefined ? null : createTransform(config.request, env, 'request')
    const response = config.response === undefined ? null : createTransform(config.response, env, 'response')
    return {
      ...(request !== null && { request: (rx) => request.apply(editableRequest(rx), rx) }),
      ...(response !== null && { response: (rx) => response.apply(editableResponse(rx), rx) }),
    }
  }),
)
