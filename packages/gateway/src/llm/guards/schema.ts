import { fileOnly, filledInResources, list, object } from '../../schema/kit.ts'
import type { Output, Schema } from '../../schema/kit.ts'
import { atLeastOneOf, exactlyOneOf } from '../../schema/rules.ts'
import { shadowMode } from '../../schema/fields/shadow-mode.ts'
import { enumeration, integer, string } from '../../schema/fields/values.ts'
import { azureContentSafetyGuard, azureContentSafetyGuardOfAnswers } from './azure-content-safety/schema.ts'
import { bedrockGuardrailsGuard } from './bedrock-guardrails/schema.ts'
import { googleModelArmorGuard } from './google-model-armor/schema.ts'
import { httpGuard } from './http/schema.ts'
import { lakeraGuard } from './lakera/schema.ts'
import { openAIModerationGuard } from './openai-moderation/schema.ts'
import { presidioGuard } from './presidio/schema.ts'
import { regexGuard, regexGuardOfAnswers } from './regex/schema.ts'
import { webhookGuard } from './webhook/schema.ts'

/**
 * Guards for both requests and responses, by key. `policies` is the schema of policies for connections to vendors. Guards that
 * are `fileOnly` would make the definition of GwBackend too large for the annotation of `kubectl apply`.
 */
function guardsOfBoth<Policies>(policies: Schema<Policies>) {
  return {
    regex: regexGuard.optional(),
    webhook: webhookGuard.optional(),
    http: fileOnly(httpGuard.optional()),
    presidio: fileOnly(presidioGuard.optional()),
    lakera: fileOnly(lakeraGuard(policies).optional()),
    azureContentSafety: fileOnly(azureContentSafetyGuard(policies).optional()),
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
  const ofAnswers = {
    ...guardsOfBoth(policies),
    regex: regexGuardOfAnswers.optional(),
    azureContentSafety: fileOnly(azureContentSafetyGuardOfAnswers(policies).optional()),
  }
  const request = object(
    { ...ofRequests, response: customResponse('The request was rejected due to inappropriate content.') },
    [exactlyOneOf(...Object.keys(ofRequests))],
  ).describe('A guard.')
  const response = object(
    { ...ofAnswers, response: customResponse('The response was rejected due to inappropriate content.') },
    [exactlyOneOf(...Object.keys(ofAnswers))],
  ).describe('A guard.')
  return filledInResources(
    object({
      request: list(request, { min: 1, max: 8 })
        .optional()
        .describe('Guards for requests, in this order, before the provider is called.'),
      response: list(response, { min: 1, max: 8 })
        .optional()
        .describe('Guards for responses, also streamed ones, in this order, before the client gets them.'),
      mode: fileOnly(shadowMode),
      shadow: fileOnly(
        object(
          {
            request: list(request, { min: 1, max: 8 })
              .optional()
              .describe('Guards for requests that only report what they would do.'),
            response: list(response, { min: 1, max: 8 })
              .optional()
              .describe('Guards for responses that only report what they would do.'),
          },
          [atLeastOneOf('request', 'response')],
        )
          .optional()
          .describe('Shadow guards, which only report what they would do, next to the enforced guards.'),
      ),
      allowUnexamined: list(
        enumeration(['Image', 'Audio', 'File', 'Stored', 'Unknown']).describe('A kind of content.'),
        { max: 5 },
      )
        .optional()
        .describe(
          'Content of requests that may pass although guards cannot examine it. `File`: files that are not text, or are referenced by URL or id; `Stored`: content at the provider, such as `previous_response_id`; `Unknown`: block types that this version does not support. When unset, a request with such content is denied if one of its guards can deny; `Unknown` is denied with any guard.',
        ),
    }),
  ).describe('Masks or denies content before it reaches the provider or the client.')
}

function customResponse(message: string) {
  return object({
    message: string({ max: 4_096 }).prefault(message).describe('Body of the response; in a stream, the error message.'),
    statusCode: integer({ min: 200, max: 599 })
      .prefault(403)
      .describe('Status of the response; it has no effect on a stream, whose status was already sent.'),
  })
    .prefault({})
    .describe('Response to the client when this guard denies. A webhook sets its own response.')
}

export type GuardName = keyof ReturnType<typeof guardsOfRequests>
export type PromptGuardConfig<Policies> = Output<ReturnType<typeof promptGuard<Policies>>>
export type RequestGuardConfig<Policies> = NonNullable<PromptGuardConfig<Policies>['request']>[number]
