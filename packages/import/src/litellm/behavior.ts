import type { StatedBehavior, StatedTest } from '../core/test-file.ts'
import type { Deployment } from './deployment.ts'
import type { Fallbacks } from './fallbacks.ts'
import type { Group } from './groups.ts'

interface Client {
  /** Name of the key in the config; null when clients need none. */
  readonly key: string | null
  readonly env: Readonly<Record<string, string>>
}

/** States which provider and model serve each name, who is refused, and what follows a failure. */
export function behaviorOf(groups: readonly Group[], fallbacks: Fallbacks, { key, env }: Client): StatedBehavior {
  const byName = new Map(groups.map((group) => [group.name, group]))
  const given = key === null ? {} : { given: { apiKey: key } }
  const served = groups.flatMap((group) => servedTest(group, given) ?? [])
  const chained = groups.flatMap((group) => fallbackTest(group, fallbacks, byName, given) ?? [])
  const [first] = groups.filter(({ name }) => !name.includes('*'))
  const refused: StatedTest[] =
    key === null || first === undefined
      ? []
      : [
          {
            name: 'a key is needed',
            send: { chat: 'hello', model: first.name },
            expect: { status: 401, by: 'apiKeyAuthentication' },
          },
        ]
  const unknown: StatedTest[] = byName.has('*')
    ? []
    : [
        {
          name: 'other models are not offered',
          ...given,
          send: { chat: 'hello', model: OTHER },
          expect: { status: 404, reason: 'model_not_found' },
        },
      ]
  const variables = groups.flatMap(({ deployments }) => deployments.map((each) => each.env))
  return {
    env: Object.assign({}, env, ...variables) as Record<string, string>,
    upstreams: { '*': { chat: 'ok' } },
    tests: [...refused, ...served, ...chained, ...unknown],
  }
}

const OTHER = 'a-model-of-nobody'

/** The text that the star of a pattern stands for in tests. */
const STAR = 'example'

function sentName(name: string): string {
  return name.replace('*', STAR)
}

/** The model that the provider is asked for. */
function askedModel(name: string, { model }: Deployment): string {
  if (model !== undefined) return model.replace('*', STAR)
  return name.endsWith('/*') ? STAR : sentName(name)
}

function servedTest({ name, deployments }: Group, given: object): StatedTest | null {
  if (deployments.some(({ tested }) => tested === null)) return null
  const sent = sentName(name)
  const models = unique(deployments.map((each) => askedModel(name, each)))
  const addresses = unique(deployments.flatMap(({ tested }) => tested?.address ?? []))
  const expect = { status: 200, llm: { model: oneOf(models) }, upstream: { address: oneOf(addresses) } }
  if (deployments.every((each) => modeOf(each) === 'embedding')) {
    const send = { path: '/v1/embeddings', body: { model: sent, input: 'hello' } }
    return { name: `${name} embeds texts`, ...given, upstreams: EMBEDDING, send, expect }
  }
  if (deployments.some((each) => modeOf(each) !== 'chat')) return null
  return { name: `${name} is served`, ...given, send: { chat: 'hello', model: sent }, expect }
}

/** The kind of request that a test sends: `model_info.mode`, or a guess from the name of the model. */
function modeOf({ mode, model = '' }: Deployment): string {
  if (mode !== null) return mode
  if (/embed/i.test(model)) return 'embedding'
  return /rerank|image|dall-e|imagen|veo-|whisper|tts|transcribe|moderation/i.test(model) ? 'other' : 'chat'
}

const EMBEDDING = {
  '*': {
    body: {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      model: 'example',
      usage: { prompt_tokens: 1, total_tokens: 1 },
    },
  },
}

/** All providers of the group fail, and the first fallback at another address answers. */
function fallbackTest(
  group: Group,
  { next }: Fallbacks,
  byName: ReadonlyMap<string, Group>,
  given: object,
): StatedTest | null {
  const failing = unique(group.deployments.flatMap(({ tested }) => tested?.address ?? []))
  const chain = (next.get(group.name) ?? []).map((name) => byName.get(name))
  const isKnown = (each: Group | undefined): each is Group =>
    each !== undefined &&
    each.deployments.every((deployment) => deployment.tested !== null && modeOf(deployment) === 'chat')
  const answering = chain.find((each) =>
    each?.deployments.some(({ tested }) => tested === null || !failing.includes(tested.address)),
  )
  if (!isKnown(group) || !isKnown(answering) || !chain.slice(0, chain.indexOf(answering)).every(isKnown)) return null
  const able = answering.deployments.filter(({ tested }) => !failing.includes(tested?.address ?? ''))
  return {
    name: `${group.name} falls back to ${answering.name}`,
    ...given,
    upstreams: Object.fromEntries(failing.map((address) => [address, { status: 503 }])),
    send: { chat: 'hello', model: group.name },
    expect: { status: 200, llm: { model: oneOf(unique(able.map((each) => askedModel(answering.name, each)))) } },
  }
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)]
}

function oneOf(values: readonly string[]): string | readonly string[] {
  return values.length === 1 ? (values[0] ?? '') : values
}
