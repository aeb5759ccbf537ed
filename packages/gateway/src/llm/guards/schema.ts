import { filledInResources, list, object } from '../../schema/kit.ts'
import type { Output, Schema } from '../../schema/kit.ts'
import { exactlyOneOf } from '../../schema/rules.ts'
import { enumeration, integer, string } from '../../schema/fields/values.ts'
import { bedrockGuardrailsGuard } from './bedrock-guardrails/schema.ts'
import { googleModelArmorGuard } from './google-model-armor/schema.ts'
import { openAIModerationGuard } from './openai-moderation/schema.ts'
import { regexGuard, regexGuardOfAnswers } from './regex/schema.ts'
import { webhookGuard } from './webhook/schema.ts'

/** Guards for both requests and responses, by key. `policies` is the schema of policies for connections to vendors. */
function guardsOfBoth<Policies>(policies: Schema<Policies>) {
  return {
    regex: regexGuard.optional(),
    webhook: webhookGuard.optional(),
    bedrockGuardrails: bedrockGuardrailsGuard(policies).optional(),
    googleModelArmor: googleModelArmorGuard(policies).optional(),
  }
}

function guardsOfRequests<Policies>(policies: Schema<Policies>) {
  return { ...guardsOfBoth(policies), openAIModeration: openAIModerationGuard(policies).optional() }
}

/** `policies` is the block for connections to vendors (BackendSimple of the spec). */
export function promptGuard<Policies>(policies: Schema<Policies>) {
  const ofRequests = guardsOfRequests(policies)
  const ofAnswers = { ...guardsOfBoth(policies), regex: regexGuardOfAnswers.optional() }
  const request = object(
    { ...ofRequests, response: customResponse('The request was rejected due to inappropriate content.') },
    [exactlyOneOf(...Object.keys(ofRequests))],
  ).describe('One guard.')
  const response = object(
    { ...ofAnswers, response: customResponse('The response was rejected due to inappropriate content.') },
    [exactlyOneOf(...Object.keys(ofAnswers))],
  ).describe('One guard.')
  return filledInResources(
    object({
      request: list(request, { min: 1, max: 8 })
        .optional()
        .describe('What looks at requests before the provider gets them, one after the other.'),
      response: list(response, { min: 1, max: 8 })
        .optional()
        .describe('What looks at answers before the client gets them, streamed ones too, one after the other.'),
      allowUnexamined: list(
        enumeration(['Image', 'Audio', 'File', 'Stored', 'Unknown']).describe('A kind of content.'),
        { max: 5 },
      )
        .optional()
        .describe(
          'Content of requests that may pass although no guard can examine it. `File`: files that are no text, or are elsewhere; `Stored`: what the provider keeps, such as `previous_response_id`; `Unknown`: block types that this version does not know. When unset, a request with such content is refused if one of its guards can refuse; `Unknown` is refused with any guard.',
        ),
    }),
  ).describe('Masks or refuses what must not reach the provider, or the client.')
}

function customResponse(message: string) {
  return object({
    message: string({ max: 4_096 }).prefault(message).describe('The body of the answer; the message, in a stream.'),
    statusCode: integer({ min: 200, max: 599 })
      .prefault(403)
      .describe('The status of the answer; that of a stream has gone out by then.'),
  })
    .prefault({})
    .describe('What clients are told when this guard refuses. A webhook says that itself.')
}

export type GuardName = keyof ReturnType<typeof guardsOfRequests>
export type PromptGuardConfig<Policies> = Output<ReturnType<typeof promptGuard<Policies>>>
export type RequestGuardConfig<Policies> = NonNullable<PromptGuardConfig<Policies>['request']>[number]
export type ResponseGuardConfig<Policies> = NonNullable<PromptGuardConfig<Policies>['response']>[number]
