import { condition, expression } from '../../../schema/fields/expression.ts'
import { enumeration, integer, number, string } from '../../../schema/fields/values.ts'
import { list, localForm, object, type Output, type Schema } from '../../../schema/kit.ts'
import { exactlyOneOf, onlyWith, requiredWhen, type Rule } from '../../../schema/rules.ts'
import { llmProvider } from '../../../llm/providers/schema.ts'

const NAME = String.raw`[\w.:/@+-]+`
const CHARACTERS = 'letters, digits and `._:/@+-`'

/** SPEC 2.10, `ai.models`: the models that clients name, and the providers that have these models. */
export function aiModels<Policies>(policies: () => Schema<Policies>) {
  const name = modelPattern().describe(
    'Name that clients send: exact, or with one `*` at the start or the end. An exact name takes precedence over patterns, and a longer pattern over a shorter one.',
  )
  const target = modelTarget({
    model: modelName().describe('Name of a model of the same backend; it may match a pattern.'),
  })
  const model = object({ name, ...modelFields(policies, target) }, modelRules).describe('A model.')
  const named = (max: number) => list(model, { min: 1, max, uniqueBy: 'name' })
  // The API server bounds the cost of rules by the longest list.
  return localForm(named(1_000), named(64), null)
}

/** The fields of a model besides its name. */
export function modelFields<Policies, Target>(policies: () => Schema<Policies>, target: Schema<Target>) {
  return {
    provider: llmProvider
      .optional()
      .describe(
        'Provider of the model. Without `model` it gets the name that the client sent; a prefix that ends in `/` before the `*` is removed. A `*` in `model` stands for the text that the `*` of the name matched.',
      ),
    policies: policies().optional().describe('Policies for this model only.'),
    price: modelPrice().optional(),
    targets: list(target, { min: 1, max: 16 })
      .optional()
      .describe('Other models, of which one serves the request: the model is virtual.'),
    by: enumeration(['Order', 'Weight', 'Price', 'Speed', 'Hash'])
      .optional()
      .describe(
        'Which target comes first: the first of the list (`Order`, the default), a random one (`Weight`), the cheapest (`Price`), the one that responds fastest (`Speed`), or always the same one for equal values of `hash` (`Hash`). The others follow when it fails.',
      ),
    hash: expression('llmRoute').optional().describe('Expression whose value selects the target.'),
    fallback: fallbacks().optional(),
    visibility: enumeration(['Public', 'Internal'])
      .prefault('Public')
      .describe('Clients can use and list `Public` models. `Internal` models are only targets of other models.'),
    allow: condition('llmRoute')
      .optional()
      .describe(
        'Expression that must be true for clients that use or list the model. Other clients get status 403. A failing expression counts as false.',
      ),
  }
}

export const modelRules: readonly Rule[] = [
  exactlyOneOf('provider', 'targets'),
  onlyWith('policies', 'provider'),
  onlyWith('price', 'provider'),
  onlyWith('by', 'targets'),
  onlyWith('fallback', 'targets'),
  onlyWith('hash', 'by'),
  requiredWhen('hash', 'by', 'Hash'),
]

/** The name of a model, or a pattern with one `*`. */
export function modelPattern() {
  return string(
    { min: 1, max: 256 },
    {
      pattern: new RegExp(String.raw`^(?:\*|\*?${NAME}|${NAME}\*)$`),
      expected: `the name of a model, of ${CHARACTERS}, with at most one \`*\` at the start or the end`,
    },
  )
}

export function modelName() {
  return string(
    { min: 1, max: 256 },
    { pattern: new RegExp(`^${NAME}$`), expected: `the name of a model, of ${CHARACTERS}` },
  )
}

function modelPrice() {
  const dollars = () => number({ min: 0, max: 1_000_000 })
  return object({
    input: dollars().describe('US dollars for a million input tokens.'),
    output: dollars().describe('US dollars for a million output tokens.'),
  }).describe('Price of the model, for models that choose by price. Three parts of `input` and one of `output` count.')
}

/** A target of a virtual model; `reference` names the model. */
export function modelTarget<Reference extends Record<string, Schema>>(reference: Reference) {
  return object({
    ...reference,
    when: condition('llmRoute')
      .optional()
      .describe(
        'Expression that must be true for requests to this target. `llm.promptTokens` is the estimated size of the prompt, `llmRequest` the body.',
      ),
    weight: integer({ min: 0, max: 1_000_000 })
      .prefault(1)
      .describe('Share of the requests with `by: Weight`, relative to the other targets. 0 takes the target out.'),
  }).describe('A target of a virtual model.')
}

function fallbacks() {
  const fallback = (failure: string) => modelName().optional().describe(`After ${failure}.`)
  return object({
    contextLength: fallback('an error because the prompt is too long for the model; `fail` when unset'),
    contentFilter: fallback('an error of a content filter of the provider; `fail` when unset'),
    rateLimit: fallback('status 429; `next` when unset'),
    overload: fallback('status 503 or 529; `next` when unset'),
    timeout: fallback('a timeout, or status 408 or 504; `next` when unset'),
  }).describe(
    'What follows a failure, by its kind, as long as the client has no part of a response: `next` tries the next target, `fail` ends the request with the error, and the name of a model continues with that model. Other failures (connections, other 5xx) try the next target.',
  )
}

export type ModelConfig = Output<ReturnType<typeof aiModels>>[number]
/** A model without its provider, which has the same name. */
export type AiModel = Omit<ModelConfig, 'provider' | 'policies'>
