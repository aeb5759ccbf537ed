import type { ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import type { SeenRequest } from '../../../testing/origin.ts'
import { useOrigin } from '../../../testing/scene.ts'
import { type CacheScene, setUp } from '../../testing/scene.ts'

/** The tokens of each embedding: 1 cent at the prices of the scene. */
const EMBEDDING = { prompt_tokens: 100, total_tokens: 100 }

/** A vector of two dimensions: each exclamation mark of a text turns it by 5 degrees. */
export function vectorOf(text: string): number[] {
  const angle = ((text.split('!').length - 1) * 5 * Math.PI) / 180
  return [Math.cos(angle), Math.sin(angle)]
}

export function sendEmbedding(response: ServerResponse, embedding: unknown, model = 'embed-test'): void {
  const data = [{ object: 'embedding', index: 0, embedding }]
  const answer = { object: 'list', data, model, usage: EMBEDDING }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

export const inputOf = ({ body }: SeenRequest): string => (JSON.parse(body) as { input: string }).input

interface SemanticScene extends CacheScene {
  semantic?: object
  /** Policies of the backend of the embeddings. */
  embedderPolicies?: object
  embed?: (seen: SeenRequest, response: ServerResponse) => void
}

/** A gateway whose cache compares requests by the vectors of a provider that the test controls. */
export async function setUpSemantic(t: TestContext, scene: SemanticScene = {}) {
  const { semantic = {}, embedderPolicies = {}, cache = {}, embed, ...others } = scene
  const origin = await useOrigin(t, embed ?? ((seen, response) => sendEmbedding(response, vectorOf(inputOf(seen)))))
  const prices = { models: [{ model: 'embed-test', rates: { input: 100, output: 0 } }], table: 'None' }
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const policies = { auth: { key: 'embedder' }, prices, ...embedderPolicies }
  const embeddings = { backendRef: { name: 'embedder' }, model: 'embed-test' }
  const test = await setUp(t, {
    cache: { semantic: { embeddings, threshold: 0.95, ...semantic }, ...cache },
    backends: [{ name: 'embedder', ai: { provider }, policies }],
    ...others,
  })
  /** Asks with this text of the user. */
  const say = (content: string, body: object = {}, headers: Record<string, string> = {}) =>
    test.chat({ messages: [{ role: 'user', content }], ...body }, headers)
  return { ...test, embedded: origin.seen, say }
}
